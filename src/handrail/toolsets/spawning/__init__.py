"""The tool that starts another agent, and the port for whoever can."""

from handrail.toolsets.spawning.port import Spawned, Spawner, SpawnRequest
from handrail.toolsets.spawning.spawn_agent import NO_SPAWNER, Spawning, spawning

__all__ = ["NO_SPAWNER", "SpawnRequest", "Spawned", "Spawner", "Spawning", "spawning"]
