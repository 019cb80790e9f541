/**
 * What the core is told. Results carry what they were asked with (`round`, `context`, `ask`), so that the
 * machine that they are for drops the stale ones. No audio: only what is known about it.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { OpaqueReasoning } from './tools/tools-state.ts';
import type { CallCommand } from './commands.ts';
import type { CallSettings } from './settings.ts';
import type { RequestedCall, ToolEvent } from './tools/tools-state.ts';
import type { CarrierOutcome } from '../../shared/telephony/call-control.ts';

/** How far playback of a TTS context got on the wire: milliseconds of its audio handed to the transport. */
export interface PlayoutPosition {
  readonly context: number;
  readonly sentMs: Millis;
}

/** How a round of the LLM ended. */
export type LlmFinish = Extract<ToolEvent, { type: 'round.completed' }>['finish'];

export type CallEvent =
  /**
   * The transport accepted the call; everything may start. `afterWords`: the caller has spoken, which is heard now, and the greeting is the
   * answer. `message`: an answering machine listens; that is said to it, and the call ends. `sttStreams`: in calls before, this STT told
   * words as they came.
   */
  | {
      readonly type: 'call.opened';
      readonly afterWords?: boolean;
      readonly message?: string;
      readonly sttStreams?: boolean;
    }
  /**
   * Another worker had the call and is gone, since `silentMs`. `position` is how far its playback got; `turnAudio` says that the audio
   * of the turn it was hearing is still there.
   */
  | {
      readonly type: 'call.resumed';
      readonly position: PlayoutPosition | undefined;
      readonly turnAudio: boolean;
      readonly silentMs?: Millis;
    }
  /** Another agent could have the call, with these settings. `agent` is its name. */
  | {
      readonly type: 'agent.prepared';
      readonly commandId: string;
      readonly agent: string;
      readonly settings: CallSettings;
    }
  /** There is no such agent, or it cannot be had. */
  | { readonly type: 'agent.missing'; readonly commandId: string }
  /** The call has what the node of its flow has. `isHeardAnew`: another session of STT hears the caller. */
  | { readonly type: 'node.equipped'; readonly settings: CallSettings; readonly isHeardAnew: boolean }
  /** The transport is gone. Nothing can be sent any more. */
  | { readonly type: 'call.closed'; readonly position?: PlayoutPosition | undefined }
  /** The service stops. Within this time, where there is any, leave is taken; then the call ends whoever speaks. */
  | { readonly type: 'call.shutdown'; readonly withinMs?: Millis }
  /** The earliest deadline of `nextDeadline` has been reached. */
  | { readonly type: 'deadline.reached'; readonly position?: PlayoutPosition | undefined }
  /**
   * The caller's voice lasted `turn.minSpeechMs`, or is back after `voice.paused`. `isFaint`: it may be a hum, or is so soft that only
   * its pitch tells it from noise, or nobody knows yet how loud the caller is, so that nothing is held for it before it is confirmed. `isDoubtful`: it is no hum, and the last of these.
   * `belowCallerDb`, here and below: by how much the newest half second of the voice is softer than the caller's voices before, in dB; negative where
   * it is louder, absent as long as the caller's level is not known.
   */
  | {
      readonly type: 'speech.started';
      readonly position?: PlayoutPosition | undefined;
      readonly isFaint?: boolean;
      readonly isDoubtful?: boolean;
      readonly belowCallerDb?: number;
    }
  /**
   * The caller's voice is surely speech, or lasted long enough to be an interruption. Always after `speech.started`. `isNoEcho`: the agent's
   * echo is well known in this call, and this voice is not it, whatever words STT has found by now.
   */
  | {
      readonly type: 'speech.confirmed';
      readonly position: PlayoutPosition | undefined;
      readonly isNoEcho?: boolean;
      readonly belowCallerDb?: number;
    }
  /** Silence of `silenceMs` within speech, shorter than `turn.stopMs`. Told once for each pause: soon while the agent can be heard, else when an answer may be asked for. */
  | {
      readonly type: 'voice.paused';
      readonly silenceMs: Millis;
      readonly position?: PlayoutPosition | undefined;
    }
  /** The voice goes on, and there was `lastedMs` of it since it began: `wordlessMs`. Dips between syllables and humming do not count. */
  | {
      readonly type: 'voice.lasted';
      readonly lastedMs: Millis;
      readonly position?: PlayoutPosition | undefined;
      readonly belowCallerDb?: number;
    }
  /** Silence lasted `turn.stopMs` after speech. */
  | {
      readonly type: 'speech.stopped';
      readonly position?: PlayoutPosition | undefined;
      /** Since the last sound of the voice, by its level; absent or less than `turn.stopMs`: since VAD heard the last of it. */
      readonly quietMs?: Millis;
      /** Audio of the caller that came behind it and is not judged yet; `voice.caught_up` says when it is. */
      readonly unjudgedMs?: Millis;
      readonly belowCallerDb?: number;
    }
  /** What came while nobody judged the caller's audio is judged, and ends in silence. */
  | { readonly type: 'voice.caught_up' }
  /** Voice is back after `speech.stopped`, not yet long enough to be speech. */
  | { readonly type: 'voice.resumed'; readonly position?: PlayoutPosition | undefined }
  /** The turn model's answer to the question `ask`; undefined when there is none in time. */
  | { readonly type: 'turn.judged'; readonly ask: number; readonly probability: number | undefined }
  /** `isOthers`, here and below: the newest words are not the caller's, and not in the text, which may be empty. */
  | {
      readonly type: 'stt.partial';
      readonly text: string;
      readonly speechFinal: boolean;
      readonly isOthers?: true;
      readonly position: PlayoutPosition | undefined;
    }
  | {
      readonly type: 'stt.final';
      readonly text: string;
      readonly speechFinal: boolean;
      readonly isOthers?: true;
      readonly position: PlayoutPosition | undefined;
    }
  /** The words of the oldest turn that was told without its own (`unwritten`); empty: there are none. */
  | { readonly type: 'words.written'; readonly text: string }
  /** STT has said all that it owed; `isLate`: not in time, and there may have been more. */
  | {
      readonly type: 'stt.finalized';
      readonly isLate?: true;
      readonly position?: PlayoutPosition | undefined;
    }
  /** `wasThere`: the connection had held for long before it broke, so what failed earlier is another outage. */
  | { readonly type: 'stt.failed'; readonly wasThere?: true }
  | { readonly type: 'llm.text'; readonly round: number; readonly text: string }
  | {
      readonly type: 'llm.done';
      readonly round: number;
      readonly finish: LlmFinish;
      readonly toolCalls: readonly RequestedCall[];
      readonly reasoning?: OpaqueReasoning | undefined;
    }
  | { readonly type: 'llm.failed'; readonly round: number }
  /** What came of a run. */
  | Extract<ToolEvent, { type: 'tool.settled' }>
  /** All audio of the first `chars` characters given to TTS in this context exists; it is `audioMs` long. */
  | {
      readonly type: 'tts.spoken';
      readonly context: number;
      readonly chars: number;
      readonly audioMs: Millis;
    }
  /** A word begins at this offset of the text given to TTS in the context, and at this time of its audio. */
  | {
      readonly type: 'tts.word';
      readonly context: number;
      readonly chars: number;
      readonly startMs: Millis;
    }
  | { readonly type: 'tts.flushed'; readonly context: number; readonly audioMs: Millis }
  | { readonly type: 'tts.failed' }
  /** Which lines of the agent are there as sound, so that they are heard whatever becomes of TTS. */
  | { readonly type: 'lines.ready'; readonly fillers: boolean; readonly farewell: boolean }
  /** The first frame of the context went out. `audioAt` is when TTS delivered its first audio. */
  | { readonly type: 'playout.started'; readonly context: number; readonly audioAt: Millis }
  /** The last frame of a finished context went out; `sentMs` is all its audio. */
  | { readonly type: 'playout.drained'; readonly context: number; readonly sentMs: Millis }
  /** Everything that exists of a context is on the wire, and more is to come. `sentMs` is what was sent. */
  | { readonly type: 'playout.starved'; readonly context: number; readonly sentMs: Millis }
  /** The first frame after that went out. */
  | { readonly type: 'playout.fed'; readonly context: number }
  /** The transport knows that this much of the context was played. */
  | { readonly type: 'playout.acknowledged'; readonly context: number; readonly playedMs: Millis }
  /** A mark went out. `inside`: the core did not ask for it; it stands so far into the audio of the response that the context belongs to. */
  | {
      readonly type: 'mark.sent';
      readonly id: string;
      readonly inside?: { readonly context: number; readonly atMs: Millis };
    }
  /** The client echoed a mark. */
  | { readonly type: 'mark.played'; readonly id: string }
  /** What the carrier made of `carrier.transfer`. */
  | {
      readonly type: 'carrier.answered';
      readonly commandId: string;
      readonly outcome: CarrierOutcome;
    }
  | { readonly type: 'dtmf.pressed'; readonly digit: string; readonly position: PlayoutPosition | undefined }
  /** Somebody outside wants something done; `command.answered` is told of it once. `id` comes back with that. */
  | {
      readonly type: 'command.given';
      readonly id?: string | undefined;
      readonly command: CallCommand;
      readonly position: PlayoutPosition | undefined;
    };
