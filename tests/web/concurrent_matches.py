"""Concurrent requests, for tests."""

import asyncio
import random
from typing import Any

import httpx2
from fastapi import FastAPI

from tests.web.conftest import ADDRESS

Json = dict[str, Any]


def client_of(app: FastAPI) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=ADDRESS)


async def answer(request: Any) -> Json:
    response = await request
    assert response.status_code < 300, response.text
    found: Json = response.json()
    return found


async def play(client: httpx2.AsyncClient, limit: asyncio.Semaphore, match: Json, number: int) -> Json:
    """Play a match to its end; the person's actions depend only on `number`."""
    chance = random.Random(number)
    address = f"/api/matches/{match['id']}"
    while not match["is_over"]:
        async with limit:
            if match["awaits_person"]:
                body = {"action": chance.choice(match["legal"])["action"], "ply": len(match["plies"])}
                match = await answer(client.post(f"{address}/actions", json=body))
            else:
                match = await answer(client.post(f"{address}/reply"))
            if chance.random() < 0.05 and match["can_undo"] and not match["is_over"]:
                match = await answer(client.post(f"{address}/undo"))
    return match
