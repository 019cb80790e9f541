/** Opens sessions of `openai_realtime` on a fake, for tests. */
import { newRealtimeOpenAi } from '../../../worker/stages/realtime/openai/adapter.ts';
import { dialects, type RealtimeOpenAiOptions } from '../../../worker/stages/realtime/openai/declaration.ts';
import type {
  RealtimeAccess,
  RealtimeEvent,
  RealtimeSeed,
  RealtimeSession,
} from '../../../worker/stages/realtime/contract.ts';
import type { StageContext } from '../../../worker/stages/stage.ts';
import { Events, newStageContext } from '../../support/core/stage-context.ts';
import type { FakeOpenAiRealtime } from '../../support/fakes/fake-openai-realtime.ts';

interface Opening extends Partial<RealtimeOpenAiOptions & RealtimeAccess> {
  readonly seed?: Partial<RealtimeSeed>;
  readonly context?: StageContext;
}

export interface Opened {
  readonly session: RealtimeSession;
  readonly events: Events<RealtimeEvent>;
}

export function openSession(server: FakeOpenAiRealtime, { seed, context, ...given }: Opening = {}): Opened {
  const model = newRealtimeOpenAi({
    dialect: dialects.openai,
    baseUrl: server.baseUrl,
    model: 'gpt-realtime-2.1',
    language: 'tr-TR',
    output: 'audio',
    words: 'vendor',
    ...given,
  });
  const events = new Events<RealtimeEvent>();
  const filled = { instructions: 'Be brief.', tools: [], history: [], ...seed };
  return { session: model.open(context ?? newStageContext(), filled, events.sink), events };
}

/** The same, ready. */
export async function openReady(server: FakeOpenAiRealtime, opening: Opening = {}): Promise<Opened> {
  const opened = openSession(server, opening);
  await opened.events.seen('ready');
  return opened;
}

/** 16 kHz, in pieces as calls give them. */
export function speak(session: RealtimeSession, ms: number): void {
  for (let at = 0; at < ms; at += 20) session.audio(new Int16Array(320).fill(1000));
}

export function takeTurn(session: RealtimeSession, turn: number, ms = 1_000): void {
  session.beginTurn();
  speak(session, ms);
  session.endTurn(turn);
}

/** What was told of answers, sound by its length. */
export const told = (events: Events<RealtimeEvent>): unknown[] =>
  events.all.flatMap((event): unknown[] => {
    switch (event.type) {
      case 'audio':
        return [`audio ${event.answer} ${event.item} ${event.pcm.length / 24} ms`];
      case 'text':
        return [`text ${event.answer} ${event.item} ${event.text}`];
      case 'item-done':
        return [`item-done ${event.answer} ${event.item}`];
      case 'tool-call':
        return [`tool-call ${event.answer} ${event.id} ${event.name} ${event.arguments}`];
      case 'done':
        return [`done ${event.answer} ${event.finish}`];
      default:
        return [];
    }
  });
