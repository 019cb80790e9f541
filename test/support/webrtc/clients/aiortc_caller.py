"""aiortc as a WHIP client. Arguments: the endpoint, the token, a file of 16 kHz PCM16 that `say` says."""

import asyncio
import fractions
import json
import sys
import threading
import time
import urllib.request

import numpy
from aiortc import MediaStreamTrack, RTCPeerConnection, RTCSessionDescription
from av import AudioFrame
from urllib.parse import urljoin

RATE = 16_000
SAMPLES = RATE // 50


def tell(event, **more):
    print(json.dumps({"event": event, **more}), flush=True)


class Voice(MediaStreamTrack):
    """Silence in real time, and speech once it is told to."""

    kind = "audio"

    def __init__(self, pcm):
        super().__init__()
        self.pcm = pcm
        self.at = len(pcm)
        self.sent = 0
        self.start = None

    async def recv(self):
        if self.start is None:
            self.start = time.monotonic()
        await asyncio.sleep(max(0, self.start + self.sent / 50 - time.monotonic()))
        part = self.pcm[self.at : self.at + SAMPLES]
        self.at += SAMPLES
        frame = AudioFrame.from_ndarray(
            numpy.pad(part, (0, SAMPLES - len(part))).reshape(1, -1), format="s16", layout="mono"
        )
        frame.sample_rate = RATE
        frame.pts = self.sent * SAMPLES
        frame.time_base = fractions.Fraction(1, RATE)
        self.sent += 1
        return frame


async def listen(track):
    loud = 0
    while True:
        frame = await track.recv()
        if numpy.abs(frame.to_ndarray()).max() > 500:
            loud += 1
            tell("heard", loud=loud)


def ask(method, url, token, body=None):
    headers = {"Authorization": f"Bearer {token}"}
    if body is not None:
        headers["Content-Type"] = "application/sdp"
    request = urllib.request.Request(url, method=method, headers=headers, data=body and body.encode())
    with urllib.request.urlopen(request) as response:
        return response.status, response.headers.get("Location"), response.read().decode()


async def main(url, token, file):
    voice = Voice(numpy.fromfile(file, dtype=numpy.int16))
    connection = RTCPeerConnection()
    connection.addTrack(voice)
    listening = []
    connection.on("track", lambda track: listening.append(asyncio.ensure_future(listen(track))))
    connection.on("connectionstatechange", lambda: tell("state", state=connection.connectionState))
    await connection.setLocalDescription(await connection.createOffer())
    status, session, sdp = await asyncio.to_thread(ask, "POST", url, token, connection.localDescription.sdp)
    tell("answered", status=status)
    await connection.setRemoteDescription(RTCSessionDescription(sdp, "answer"))
    commands = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def read():
        for line in sys.stdin:
            loop.call_soon_threadsafe(commands.put_nowait, line.strip())

    threading.Thread(target=read, daemon=True).start()
    while (command := await commands.get()) != "hang up":
        voice.at = 0 if command == "say" else voice.at
    status, _, _ = await asyncio.to_thread(ask, "DELETE", urljoin(url, session), token)
    tell("over", status=status)
    await connection.close()


asyncio.run(main(*sys.argv[1:]))
