/** The smallest real request to each kind of provider: it shows that address, key and model are right. */
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { ProviderRole } from '../../../shared/protocol/breakers.ts';
import type { Packages } from '../../../shared/config/stages/package.ts';
import type { StageName } from '../../../shared/config/stages/declaration.ts';
import { openProvider, type ProviderStage, type StageDefinitions } from '../../../worker/stages/registry.ts';
import type { RealtimeModel } from '../../../worker/stages/realtime/contract.ts';
import { withOwnTurns } from '../../../worker/stages/realtime/own-turns.ts';
import type { LlmStage, StageContext, StageError, SttStage, TtsStage } from '../../../worker/stages/stage.ts';

/** Models that think, and servers that load a model first, take their time. */
const requestMs = 20_000;

/** Asks, calls `done` with what the request failed with or with nothing, and gives what stops it. */
type Ask = (context: StageContext, done: (error?: StageError) => void) => () => void;

export interface ProbedProvider {
  readonly stage: StageName;
  readonly role: ProviderRole;
  /** What has come when the request is done. */
  readonly what: string;
  readonly ask: Ask;
  readonly close: () => Promise<void>;
}

/** @throws Error when the key may not be sent to the address, or the build leaves the provider out. */
export async function openProbe(
  stages: StageDefinitions,
  {
    stage,
    role,
    packages,
  }: { readonly stage: StageName; readonly role: ProviderRole; readonly packages: Packages },
): Promise<ProbedProvider> {
  const opened: ProviderStage = await openProvider(stages, { stage, role, packages });
  const close = (): Promise<void> => opened.provider.close();
  switch (opened.stage) {
    case 'stt':
      return { stage, role, what: 'silence recognised', ask: askStt(opened.provider), close };
    case 'llm':
      return { stage, role, what: 'first text', ask: askLlm(opened.provider), close };
    case 'tts':
      return { stage, role, what: 'first sound', ask: askTts(opened.provider), close };
    case 'realtime':
      return { stage, role, what: 'first answer', ask: askRealtime(opened.provider), close };
  }
}

/** Asks once; the wait is bounded. */
export async function askOnce({ ask }: ProbedProvider, clock: Clock): Promise<StageError | undefined> {
  const context: StageContext = { clock, bind: (callback) => callback };
  let stop = (): void => undefined;
  const error = await new Promise<StageError | undefined>((resolve) => {
    clock.after(requestMs, () => resolve({ kind: 'timeout', what: 'answer' }));
    stop = ask(context, resolve);
  });
  stop();
  return error;
}

const askLlm =
  (llm: LlmStage): Ask =>
  (context, done) => {
    const messages = [
      { role: 'system', text: 'Answer with one word.' },
      { role: 'user', text: 'Say hello.' },
    ] as const;
    const session = llm.open(context, {});
    session.start({ messages, tools: [] }, (event) => done(event.type === 'error' ? event.error : undefined));
    return () => session.close();
  };

const askTts =
  (tts: TtsStage): Ask =>
  (context, done) => {
    const session = tts.open(context, (event) => {
      if (event.type === 'error') done(event.error);
      else if (event.type === 'audio' && event.pcm.length > 0) done();
      else if (event.type === 'flushed') done({ kind: 'protocol', rule: 'a text has a sound' });
    });
    // Where a text is refused one more is asked for, and two refusals tell why.
    session.speak(1, 'Hello.');
    session.speak(1, ' Goodbye.');
    session.flush(1);
    return () => session.close();
  };

/** Half a second of silence at 16 kHz, in pieces as calls give them. */
const silence = { pieces: 25, samples: 320 };

const askStt =
  (stt: SttStage): Ask =>
  (context, done) => {
    const session = stt.open(context, (event) => {
      if (event.type === 'error') done(event.error);
      else if (event.type === 'finalized') done();
    });
    for (let piece = 0; piece < silence.pieces; piece += 1) session.audio(new Int16Array(silence.samples));
    session.finalize();
    return () => session.close();
  };

/** A session, a turn of sound, words that were typed, and the beginning of an answer. */
const askRealtime =
  (model: RealtimeModel): Ask =>
  (context, done) => {
    const seed = { instructions: 'Answer with one word.', tools: [], history: [] };
    const session = model.open(context, seed, (told) => {
      const event = withOwnTurns(told);
      if (event.type === 'error') done(event.error);
      else if (event.type === 'audio' || event.type === 'text') done();
      else if (event.type === 'done')
        done(event.failed ?? { kind: 'protocol', rule: 'a question has an answer' });
    });
    session.beginTurn();
    for (let piece = 0; piece < silence.pieces; piece += 1) session.audio(new Int16Array(silence.samples));
    session.endTurn(1);
    session.append([{ role: 'user', text: 'Say hello.' }]);
    session.respond(1);
    return () => session.close();
  };
