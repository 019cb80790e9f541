/**
 * The conversation in the words of RTVI: what the core tells becomes the messages that a client of one or the other generation follows.
 * Pure.
 *
 * Invariant: `bot-started-speaking` and `bot-stopped-speaking` come in pairs, and so do `bot-tts-started` and `bot-tts-stopped`;
 * nothing of a response is told as said after it was cut. Of tools nothing is told but their ids: the caller is a stranger.
 */
import { flag, maybe, number, record } from '../../shared/base/codec.ts';
import { rtviEventsIn, rtviMessage, type RtviFormat } from '../../shared/rtvi/messages.ts';
import type { ConversationEvent, HeardEnd, TurnTimes } from '../core/told.ts';
import {
  audible,
  audioSent,
  ended,
  estimated,
  heard,
  newSpoken,
  pieceGiven,
  spokenCodec,
  type Progress,
  type SpokenState,
} from './spoken.ts';

export interface NarrationState {
  readonly spoken: SpokenState;
  /** The response that TTS was given text of and has not given all audio of. */
  ttsEpoch: number | undefined;
  isAgentSpeaking: boolean;
  /** The LLM is answering. */
  isLlmOpen: boolean;
}

export const narrationCodec = record<NarrationState>({
  spoken: spokenCodec,
  ttsEpoch: maybe(number),
  isAgentSpeaking: flag,
  isLlmOpen: flag,
});

export const newNarration = (): NarrationState => ({
  spoken: newSpoken(),
  ttsEpoch: undefined,
  isAgentSpeaking: false,
  isLlmOpen: false,
});

interface Teller {
  readonly format: RtviFormat;
  /** Unix time in milliseconds. */
  readonly wallMs: number;
  /** What the client asked for beside what RTVI tells. */
  readonly events: ReturnType<typeof rtviEventsIn>;
}

/** The messages for one event, in their order. */
export function narrate(state: NarrationState, event: ConversationEvent, teller: Teller): string[] {
  switch (event.type) {
    case 'turn.user_started':
      return [rtviMessage('user-started-speaking')];
    case 'turn.user_ended':
      return [rtviMessage('user-stopped-speaking')];
    case 'user.transcript': {
      const timestamp = new Date(teller.wallMs).toISOString();
      const { text, final } = event;
      return [rtviMessage('user-transcription', { text, final, timestamp, user_id: '' })];
    }
    case 'user.text':
      return [rtviMessage('user-llm-text', { text: event.text })];
    case 'bot.llm_started':
      state.isLlmOpen = true;
      return [rtviMessage('bot-llm-started')];
    case 'bot.text': {
      const text = rtviMessage('bot-llm-text', { text: event.text });
      // A greeting, or another line: clients that put texts together know no other beginning and end.
      return state.isLlmOpen
        ? [text]
        : [rtviMessage('bot-llm-started'), text, rtviMessage('bot-llm-stopped')];
    }
    case 'bot.llm_stopped':
      state.isLlmOpen = false;
      return [rtviMessage('bot-llm-stopped')];
    case 'tool.started':
      return [
        rtviMessage('llm-function-call-started', {}),
        rtviMessage('llm-function-call-in-progress', { tool_call_id: event.call.id }),
      ];
    case 'tool.ended': {
      const { call, end } = event;
      const data = { tool_call_id: call.id, cancelled: end === 'abandoned' };
      return [rtviMessage('llm-function-call-stopped', data)];
    }
    case 'turn.measured':
      return [rtviMessage('metrics', metricsOf(event.times))];
    case 'agent.changed': {
      const { type, agent } = event;
      return teller.events.has(type) ? [rtviMessage('server-message', { type, agent })] : [];
    }
    case 'fault.noticed':
      return [rtviMessage('error', { error: `${event.stage} ${event.what}`, fatal: false })];
    default:
      return narrateVoice(state, event, teller);
  }
}

function narrateVoice(state: NarrationState, event: ConversationEvent, { format, events }: Teller): string[] {
  const { spoken } = state;
  switch (event.type) {
    case 'bot.tts_text': {
      const started = state.ttsEpoch === undefined ? [rtviMessage('bot-tts-started')] : [];
      state.ttsEpoch = event.epoch;
      const told = format === 1 ? unspoken(event.text) : [];
      return [...started, ...told, ...progressed(pieceGiven(spoken, event.text), format)];
    }
    case 'bot.tts_stopped':
      return stopTts(state);
    case 'turn.bot_started':
      state.isAgentSpeaking = true;
      return [rtviMessage('bot-started-speaking'), ...progressed(audible(spoken), format)];
    case 'bot.heard':
      return [
        ...(event.text === '' ? [] : progressed(heard(spoken, event.text), format)),
        ...(events.has('bot.heard') && event.end !== undefined ? [heardMessage(event.epoch, event.end)] : []),
      ];
    case 'turn.bot_ended':
      return stopSpeaking(state);
    case 'turn.interrupted':
      return [
        ...stopTts(state),
        ...(format === 2 ? [rtviMessage('bot-interrupted')] : []),
        ...stopSpeaking(state),
      ];
    default:
      return [];
  }
}

/** RTVI has no name for it: what a client was told is no record of what was heard. */
const heardMessage = (epoch: number, { heard: text, complete, how: ended }: HeardEnd): string =>
  rtviMessage('server-message', { type: 'bot.heard', epoch, text, complete, ended });

/** So much audio went out. */
export const voiceSent = (state: NarrationState, ms: number): void => audioSent(state.spoken, ms);

/** What was said since, by the clock. */
export function narrateProgress(
  state: NarrationState,
  { format, behindMs }: { readonly format: RtviFormat; readonly behindMs: number },
): string[] {
  const progress = estimated(state.spoken, behindMs);
  return progress === undefined ? [] : progressed([progress], format);
}

function stopTts(state: NarrationState): string[] {
  if (state.ttsEpoch === undefined) return [];
  state.ttsEpoch = undefined;
  return [rtviMessage('bot-tts-stopped')];
}

function stopSpeaking(state: NarrationState): string[] {
  const wasSpeaking = state.isAgentSpeaking;
  state.isAgentSpeaking = false;
  ended(state.spoken);
  return wasSpeaking ? [rtviMessage('bot-stopped-speaking')] : [];
}

/** Clients of the first generation get text before it is said, and once more as it is said. */
const unspoken = (text: string): string[] => [
  rtviMessage('bot-transcription', { text }),
  rtviMessage('bot-output', { text, spoken: false, aggregated_by: 'sentence' }),
];

const progressed = (steps: readonly Progress[], format: RtviFormat): string[] =>
  steps.flatMap((step) => [
    ...(step.fresh.trim() === '' ? [] : [rtviMessage('bot-tts-text', { text: step.fresh.trim() })]),
    ...outputOf(step, format),
  ]);

function outputOf({ id, text, said, status }: Progress, format: RtviFormat): string[] {
  if (format === 1)
    return status === 'completed'
      ? [rtviMessage('bot-output', { text, spoken: true, aggregated_by: 'sentence' })]
      : [];
  const spoken_progress = { accumulated_text: text.slice(0, said), remaining_text: text.slice(said) };
  return [
    rtviMessage('bot-output', {
      text,
      aggregated_by: 'sentence',
      segment_id: id,
      will_be_spoken: true,
      spoken_status: status,
      spoken_progress,
    }),
  ];
}

const seconds = (ms: number): number => Math.round(ms) / 1000;

/** The times of a turn by the names that RTVI has for them. */
const metricsOf = (times: TurnTimes): object => ({
  ttfb: [
    { processor: 'stt', value: seconds(times.sttFinalMs) },
    { processor: 'llm', value: seconds(times.llmTtftMs) },
    { processor: 'tts', value: seconds(times.ttsTtfbMs) },
  ],
  processing: [
    { processor: 'end_of_turn', value: seconds(times.endOfTurnMs) },
    { processor: 'response', value: seconds(times.responseMs) },
  ],
});
