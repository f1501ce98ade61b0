# The page in the browser, and all other programs.
#
#   docker build --tag selfplay .
#   docker run --rm --publish 127.0.0.1:8000:8000 selfplay                       then open http://127.0.0.1:8000
#   docker run --rm --volume selfplay:/home/player selfplay learn levels=10      the main job; its runs stay in the volume
#   docker run --rm --volume selfplay:/home/player --publish 127.0.0.1:8000:8000 selfplay

FROM python:3.13.15-slim-trixie@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b

# Unlike options, the variables also apply to the packages that build the project.
ENV PIP_CONSTRAINT=/source/constraints.txt \
    UV_CONSTRAINT=/source/constraints.txt \
    UV_BUILD_CONSTRAINT=/source/constraints.txt
COPY . /source
# uv finds the build of torch for the CPU, which takes 4 GB less.
RUN pip install --no-cache-dir uv \
    && uv pip install --system --no-cache --compile-bytecode --torch-backend=cpu "/source[page]" \
    && useradd --create-home --uid 1000 player

USER 1000
WORKDIR /home/player
EXPOSE 8000
ENTRYPOINT ["selfplay"]
CMD ["web", "host=0.0.0.0", "hosts=[127.0.0.1,localhost]"]
