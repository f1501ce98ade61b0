// Shows the OpenAPI description of the server.

import { at, element } from "./drawing.js";

/** @type {(schema: any) => any} */
function typeOf(schema) {
  if (schema === undefined) {
    return element("span", {}, "nothing");
  }
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1);
    return element("a", { href: `#${name}` }, name);
  }
  if (schema.anyOf) {
    return element("span", {}, ...schema.anyOf.flatMap((/** @type {any} */ one, /** @type {number} */ number) => (number ? [" or ", typeOf(one)] : [typeOf(one)])));
  }
  if (schema.type === "array") {
    return element("span", {}, "list of ", typeOf(schema.items));
  }
  const words = schema.enum?.map((/** @type {any} */ one) => JSON.stringify(one)).join(" or ") ?? schema.const ?? schema.type ?? "anything";
  const range = [schema.minimum ?? schema.minLength, schema.maximum ?? schema.maxLength];
  return element("span", {}, range.some((end) => end !== undefined) ? `${words} (${range.join(" to ")})` : String(words));
}

/** @type {(method: string, address: string, one: any) => any} */
function operation(method, address, one) {
  const parameters = (one.parameters ?? []).map((/** @type {any} */ parameter) =>
    element("li", {}, element("code", {}, parameter.name), ` in the ${parameter.in}: `, typeOf(parameter.schema)),
  );
  const body = one.requestBody?.content["application/json"].schema;
  const responses = Object.entries(one.responses).map(([code, response]) =>
    element("li", {}, element("code", {}, code), ` ${response.description} `, ...(response.content ? [typeOf(Object.values(response.content)[0].schema)] : [])),
  );
  return element(
    "section",
    { class: "card wide" },
    element("h2", {}, element("code", {}, `${method.toUpperCase()} ${address}`)),
    element("p", {}, one.summary),
    element("ul", {}, ...parameters, ...(body ? [element("li", {}, "body: ", typeOf(body))] : [])),
    element("h3", {}, "Responses"),
    element("ul", {}, ...responses),
  );
}

/** @type {(name: string, one: any) => any} */
function schema(name, one) {
  const fields = Object.entries(one.properties ?? {}).map(([field, what]) =>
    element("li", {}, element("code", {}, field), ": ", typeOf(what), what.description ? ` — ${what.description}` : ""),
  );
  return element("section", { class: "card wide", id: name }, element("h3", {}, name), element("p", { class: "quiet" }, one.description ?? ""), element("ul", {}, ...fields));
}

const description = await (await fetch("openapi.json")).json();
at("about").textContent = description.info.description;
for (const [address, operations] of Object.entries(description.paths)) {
  for (const [method, one] of Object.entries(operations)) {
    at("operations").append(operation(method, address, one));
  }
}
for (const [name, one] of Object.entries(description.components.schemas)) {
  at("schemas").append(schema(name, one));
}
