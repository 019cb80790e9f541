/** Two simulated models, of which the first is killed at a random instant of its answer, and a judge of what was delivered. */
import { newFailoverLlm } from '../../../worker/stages/failover/llm.ts';
import type { LlmEvent, LlmStage } from '../../../worker/stages/stage.ts';
import { newStageContext } from '../../support/core/stage-context.ts';
import { Fate, mostExtraMs, newFailoverWorld, planDeath, runUntil, type Death } from './failover-world.ts';

interface Manner {
  readonly name: string;
  readonly connectMs: number;
  readonly firstMs: number;
  readonly deltaMs: number;
  readonly words: number;
}

const textOf = ({ name, words }: Manner): string =>
  Array.from({ length: words }, (_, at) => `${name}${at} `).join('');

function model(fate: Fate, manner: Manner): LlmStage {
  const { clock } = fate;
  return {
    provider: 'sim',
    open: () => ({
      start: (_request, sink) => {
        let isOver = false;
        const say = (event: LlmEvent): void => {
          if (isOver) return;
          isOver = event.type === 'error' || event.type === 'done';
          sink(event);
        };
        fate.watch((error) => say({ type: 'error', error }));
        const word = (at: number): void => {
          if (fate.isDead) return;
          if (at === manner.words) say({ type: 'done', finish: 'stop', usage: undefined });
          else {
            say({ type: 'text', text: `${manner.name}${at} ` });
            clock.after(manner.deltaMs, () => word(at + 1));
          }
        };
        clock.after(manner.connectMs + manner.firstMs, () => word(0));
        return {
          cancel: () => {
            isOver = true;
          },
        };
      },
      close: () => undefined,
    }),
    close: () => Promise.resolve(),
  };
}

export interface LlmRun {
  readonly violations: readonly string[];
  readonly failovers: number;
  readonly wasCut: boolean;
}

interface Answer {
  readonly text: string;
  readonly ends: readonly string[];
  readonly firstMs: number | undefined;
  readonly requests: number;
  readonly failovers: number;
}

function ask(
  seed: number,
  plan: { manners: readonly Manner[]; death?: Death; hedgeAfterMs?: number },
): Answer {
  const world = newFailoverWorld(seed);
  const { clock } = world;
  const { hedgeAfterMs } = plan;
  const stage = newFailoverLlm({
    ...world.scope<LlmStage>('llm', {
      primary: model(new Fate(clock, plan.death), plan.manners[0]!),
      secondary: model(new Fate(clock, undefined), plan.manners[1]!),
    }),
    ...(hedgeAfterMs !== undefined && { hedgeAfterMs }),
  });
  let text = '';
  let firstMs: number | undefined;
  const ends: string[] = [];
  stage.open(newStageContext(clock), {}).start({ messages: [], tools: [] }, (event) => {
    if (event.type === 'done' || event.type === 'error') ends.push(event.type);
    else if (event.type === 'text') {
      firstMs ??= clock.now();
      text += event.text;
    }
  });
  runUntil(clock, () => ends.length > 0, 30_000);
  // A request that still runs must have nothing to say.
  clock.advance(10_000);
  return { text, ends, firstMs, requests: world.requests.length, failovers: world.reasons.length };
}

export function runLlm(seed: number): LlmRun {
  const { prng } = newFailoverWorld(seed);
  const manner = (name: string): Manner => ({
    name,
    connectMs: 5 + prng.below(100),
    firstMs: 50 + prng.below(1_200),
    deltaMs: 5 + prng.below(40),
    words: 1 + prng.below(40),
  });
  const manners = [manner('p'), manner('s')];
  const [first, second] = manners as [Manner, Manner];
  const hedgeAfterMs = prng.chance(0.5) ? 100 + prng.below(1_000) : undefined;
  const death = planDeath(prng, first.connectMs + first.firstMs + first.deltaMs * first.words);
  const plan = { manners, ...(hedgeAfterMs !== undefined && { hedgeAfterMs }) };
  const usual = ask(seed, plan);
  const answer = ask(seed, { ...plan, death });
  const violations: string[] = [];
  const whole = [first, second].find((one) => answer.text === textOf(one));
  const wasCut = textOf(first).startsWith(answer.text) && answer.ends[0] === 'error';
  if (answer.ends.length !== 1) violations.push(`ended ${answer.ends.length} times`);
  if (whole === undefined && !wasCut) violations.push(`mixed: ${answer.text}`);
  if (answer.text === '') violations.push('not answered');
  if (answer.ends[0] === 'error' && !wasCut) violations.push(`failed after ${answer.text}`);
  if (answer.requests > 2) violations.push(`asked ${answer.requests} times`);
  const silentMs = death.how === 'silence' || death.after === 'silence' ? death.timeoutMs : 0;
  const patienceMs = hedgeAfterMs === undefined ? silentMs : Math.min(silentMs, hedgeAfterMs);
  const allowedMs = (usual.firstMs ?? 0) + patienceMs + second.connectMs + second.firstMs;
  if ((answer.firstMs ?? Infinity) > allowedMs + mostExtraMs)
    violations.push(`first word at ${answer.firstMs ?? -1}`);
  return { violations, failovers: answer.failovers, wasCut };
}
