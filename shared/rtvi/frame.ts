/**
 * The frames of RTVI over WebSocket: one protobuf message `pipecat.Frame` in each binary frame, which holds audio or the JSON text of a
 * message. The other kinds of the format are neither sent nor read: stock clients know none of them.
 *
 * Invariant: whatever bytes come, decoding gives a frame, nothing, or undefined for bytes that are no such message; it never throws.
 */
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** Fields of `Frame` (oneof), `AudioRawFrame` and `MessageFrame`. */
const field = { audio: 2, message: 4, name: 2, samples: 3, sampleRate: 4, channels: 5, data: 1 } as const;

export type RtviFrame =
  /** PCM16, little-endian, interleaved; a view into the bytes that were decoded. */
  | {
      readonly type: 'audio';
      readonly samples: Uint8Array;
      readonly sampleRate: number;
      readonly channels: number;
    }
  /** UTF-8 of a message; a view into the bytes that were decoded. */
  | { readonly type: 'message'; readonly json: Uint8Array }
  /** A kind that nobody here reads. */
  | { readonly type: 'other' };

/** Undefined for bytes that are no frame. Of a oneof the last one counts, as protobuf has it. */
export function decodeRtviFrame(bytes: Uint8Array): RtviFrame | undefined {
  try {
    const reader = new BinaryReader(bytes);
    let frame: RtviFrame = { type: 'other' };
    while (reader.pos < reader.len) {
      const [number, wire] = reader.tag();
      if (wire === WireType.LengthDelimited && number === field.audio) frame = decodeAudio(reader.bytes());
      else if (wire === WireType.LengthDelimited && number === field.message)
        frame = decodeMessage(reader.bytes());
      else reader.skip(wire, number);
    }
    return frame;
  } catch (error) {
    // The library throws this for bytes that end too early or name no field.
    if (error instanceof Error) return undefined;
    throw error;
  }
}

function decodeAudio(bytes: Uint8Array): RtviFrame {
  const reader = new BinaryReader(bytes);
  let samples: Uint8Array = new Uint8Array(0);
  let [sampleRate, channels] = [0, 0];
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    if (number === field.samples && wire === WireType.LengthDelimited) samples = reader.bytes();
    else if (number === field.sampleRate && wire === WireType.Varint) sampleRate = reader.uint32();
    else if (number === field.channels && wire === WireType.Varint) channels = reader.uint32();
    else reader.skip(wire, number);
  }
  return { type: 'audio', samples, sampleRate, channels };
}

function decodeMessage(bytes: Uint8Array): RtviFrame {
  const reader = new BinaryReader(bytes);
  let json: Uint8Array = new Uint8Array(0);
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    if (number === field.data && wire === WireType.LengthDelimited) json = reader.bytes();
    else reader.skip(wire, number);
  }
  return { type: 'message', json };
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

/** The frame of a message. */
export function encodeRtviMessage(json: string): Buffer {
  const writer = new BinaryWriter();
  writer.tag(field.message, WireType.LengthDelimited).fork();
  writer.tag(field.data, WireType.LengthDelimited).string(json).join();
  return asBuffer(writer.finish());
}

/** The frame of so many bytes of mono PCM16. */
export function encodeRtviAudio(samples: Uint8Array, sampleRate: number): Buffer {
  const writer = new BinaryWriter();
  writer.tag(field.audio, WireType.LengthDelimited).fork();
  writer.tag(field.name, WireType.LengthDelimited).string('audio');
  writer.tag(field.samples, WireType.LengthDelimited).bytes(samples);
  writer.tag(field.sampleRate, WireType.Varint).uint32(sampleRate);
  writer.tag(field.channels, WireType.Varint).uint32(1).join();
  return asBuffer(writer.finish());
}
