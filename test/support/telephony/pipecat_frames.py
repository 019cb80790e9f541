"""Reads and writes frames of carriers' streams with the serializers that Pipecat ships.

In: {"carrier": "a" | "b", "frames": [text], "stream": id, "pcm": base64 of 8 kHz PCM16}.
Out: what it takes the call for, what it hears in the frames, and what it would send: that sound, and an interruption.
"""

import asyncio
import base64
import json
import sys
from types import SimpleNamespace

from loguru import logger

logger.remove()

from pipecat.frames.frames import InputAudioRawFrame, InputDTMFFrame, InterruptionFrame, OutputAudioRawFrame  # noqa: E402
from pipecat.runner.utils import parse_telephony_websocket  # noqa: E402
from pipecat.serializers.telnyx import TelnyxFrameSerializer  # noqa: E402
from pipecat.serializers.twilio import TwilioFrameSerializer  # noqa: E402

rate = 8000


class Frames:
    """A connection on which these frames came."""

    def __init__(self, frames):
        self.frames = frames

    async def iter_text(self):
        for frame in self.frames:
            yield frame


def serializer_of(given):
    if given["carrier"] == "a":
        return TwilioFrameSerializer(given["stream"], params=TwilioFrameSerializer.InputParams(auto_hang_up=False))
    return TelnyxFrameSerializer(
        given["stream"], "PCMU", "PCMU", params=TelnyxFrameSerializer.InputParams(auto_hang_up=False)
    )


async def main():
    given = json.load(sys.stdin)
    transport, call = await parse_telephony_websocket(Frames(given["frames"]))
    serializer = serializer_of(given)
    await serializer.setup(SimpleNamespace(audio_in_sample_rate=rate))
    heard, keys = b"", ""
    for text in given["frames"]:
        frame = await serializer.deserialize(text)
        if isinstance(frame, InputAudioRawFrame):
            heard += frame.audio
        elif isinstance(frame, InputDTMFFrame):
            keys += frame.button.value
    sound = OutputAudioRawFrame(audio=base64.b64decode(given["pcm"]), sample_rate=rate, num_channels=1)
    json.dump(
        {
            "transport": transport,
            "call": call["call_id"],
            "stream": call["stream_id"],
            "heard": base64.b64encode(heard).decode(),
            "keys": keys,
            "sound": await serializer.serialize(sound),
            "clear": await serializer.serialize(InterruptionFrame()),
        },
        sys.stdout,
    )


asyncio.run(main())
