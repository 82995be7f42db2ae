"""Plays the protocol that is asked for."""

from __future__ import annotations

from importlib import import_module

from benchmarks.drivers.measure import Scene, Seen, main


async def play(scene: Scene, seen: Seen) -> None:
    await import_module(f"benchmarks.drivers.httpx_json.{scene.client_type}").play(scene, seen)


if __name__ == "__main__":
    main(play)
