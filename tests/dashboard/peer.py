"""One end of a WebSocket in a test, on the application itself."""

from asgiref.testing import ApplicationCommunicator


class Peer(ApplicationCommunicator):
    """What channels.testing offers, which needs a server that this project does not use."""

    def __init__(self, application, path: str, headers: list[tuple[bytes, bytes]]) -> None:
        scope = {"type": "websocket", "path": path, "query_string": b"", "headers": headers, "subprotocols": []}
        super().__init__(application, scope)

    async def connect(self) -> bool:
        """Whether the socket was accepted."""
        await self.send_input({"type": "websocket.connect"})
        return (await self.receive_output(timeout=5))["type"] == "websocket.accept"

    async def say(self, text: str) -> None:
        await self.send_input({"type": "websocket.receive", "text": text})

    async def hear(self) -> str | bytes:
        message = await self.receive_output(timeout=5)
        assert message["type"] == "websocket.send", message
        return message["text"] if message.get("text") is not None else message["bytes"]

    async def leave(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(timeout=5)
