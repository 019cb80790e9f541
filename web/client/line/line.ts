/** The way of one call to its service: a WebSocket, or a WebRTC connection with a data channel. Types only. */
import type { ClientMessage } from '../wire.ts';

export interface LineListener {
  opened(): void;
  received(data: string | ArrayBuffer): void;
  closed(code: number): void;
  /** The connection is gone and another one is being made, or is there. */
  moving(isMoving: boolean): void;
  /** How many packets of the agent's audio never came so far. */
  lost(packets: number): void;
  /** Audio cannot leave, or can again. */
  slow(isSlow: boolean): void;
  /** Nothing has left for so long that the other side cannot be there. */
  stuck(): void;
}

export interface Line {
  /** Tells `opened` of a line that is open when it is given out. */
  begin?(): void;
  /** False when the line is not open. */
  send(message: ClientMessage): boolean;
  /** Sends a frame of PCM16. False when it was dropped, or the line carries the microphone itself. */
  sendAudio(pcm: Int16Array<ArrayBuffer>, sampleRate: number): boolean;
  /** After this no listener is called. */
  close(): void;
}

/** The microphone and the loudspeaker, as a line needs them that carries audio itself. */
export interface LineAudio {
  /** The microphone; `changed` is told another one. */
  readonly microphone: MediaStreamTrack;
  onMicrophone(changed: ((track: MediaStreamTrack) => void) | undefined): void;
  playStream(stream: MediaStream): void;
}
