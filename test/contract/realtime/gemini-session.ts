/** Sessions of the adapter of Gemini Live on its fake, for its tests. */
import type { Clock } from '../../../shared/runtime/clock.ts';
import type {
  RealtimeAccess,
  RealtimeEvent,
  RealtimeSeed,
  RealtimeSession,
} from '../../../worker/stages/realtime/contract.ts';
import { newGeminiLive } from '../../../worker/stages/realtime/gemini/adapter.ts';
import type { GeminiLiveOptions } from '../../../worker/stages/realtime/gemini/declaration.ts';
import { Events, newStageContext } from '../../support/core/stage-context.ts';
import type { FakeGeminiLive } from '../../support/fakes/fake-gemini-live.ts';

export const newest: Omit<GeminiLiveOptions, 'baseUrl'> & RealtimeAccess = {
  model: 'gemini-3.8-live',
  path: '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent',
  seeding: 'history',
  contextUpdate: true,
  behavior: 'BLOCKING',
  takesLanguage: true,
  apiKey: 'key-1',
  language: 'en-US',
  output: 'audio',
  words: 'vendor',
};

export const older = {
  ...newest,
  model: 'gemini-2.5-flash-native-audio-preview-12-2025',
  seeding: 'content',
  contextUpdate: false,
  behavior: undefined,
  takesLanguage: false,
} as const;

export const noSeed: RealtimeSeed = { instructions: 'Be brief.', tools: [], history: [] };

export const lookUp = {
  name: 'look_up',
  description: 'Looks up.',
  parameters: {
    type: 'object',
    properties: { id: { type: 'integer' } },
    required: ['id'],
    additionalProperties: false,
  },
};

/** Settings that differ, and the clock where it is not the patient one. */
type Given = Readonly<Record<string, unknown>> & { readonly clock?: Clock };

export interface OpenSession {
  readonly session: RealtimeSession;
  readonly events: Events<RealtimeEvent>;
  readonly context: ReturnType<typeof newStageContext>;
}

export function openGemini(
  server: FakeGeminiLive,
  { clock, ...given }: Given = {},
  seed: Partial<RealtimeSeed> = {},
): OpenSession {
  const model = newGeminiLive({ ...newest, ...given, baseUrl: server.baseUrl });
  const events = new Events<RealtimeEvent>();
  const context = newStageContext(clock);
  return { session: model.open(context, { ...noSeed, ...seed }, events.sink), events, context };
}

export async function readyGemini(
  server: FakeGeminiLive,
  given: Given = {},
  seed: Partial<RealtimeSeed> = {},
): Promise<OpenSession> {
  const opened = openGemini(server, given, seed);
  await opened.events.seen('ready');
  return opened;
}

export const voice = (ms: number, value = 5): Int16Array => new Int16Array(ms * 16).fill(value);

/** A turn of the caller, and the request for its answer. */
export function speak(session: RealtimeSession, turn: number): void {
  session.beginTurn();
  session.audio(voice(300));
  session.endTurn(turn);
  session.respond(turn);
}

/** The words of an answer. */
export const wordsOf = (events: Events<RealtimeEvent>, answer: number): string =>
  events
    .of('text')
    .filter((event) => event.answer === answer)
    .map(({ text }) => text)
    .join('');

export const millisOf = (events: Events<RealtimeEvent>, answer: number): number =>
  events
    .of('audio')
    .filter((event) => event.answer === answer)
    .reduce((sum, { pcm }) => sum + pcm.length / 24, 0);

export const shapes = (events: Events<RealtimeEvent>): string[] =>
  events.all.map((event) => ('answer' in event ? `${event.type} ${event.answer}` : event.type));
