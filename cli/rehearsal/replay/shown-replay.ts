/** What came of a replay, in lines for people. */
import type { FactsStep } from '../../../worker/recording/facts.ts';
import type { Difference, Replay } from '../../../worker/recording/replay.ts';

const longest = 400;

const cut = (text: string): string => (text.length > longest ? `${text.slice(0, longest)} ...` : text);

export function shownReplay({ head, steps, different, first, before, isCut }: Replay): string[] {
  const { call, agent } = head;
  const title = `call ${call || 'without an id'} of agent ${agent}: ${steps} steps`;
  const ending = isCut ? ['the file ends in the middle of a line: what came behind it is not known'] : [];
  if (first === undefined) return [`${title}, every order the same`, ...ending];
  return [
    `${title}, ${different} with other orders; the first is ${Math.round(first.step.now - head.startedAt)} ms into the call (line ${first.line})`,
    ...before.map((step) => `    ${shownFact(step, head.startedAt)}`),
    `  > ${shownFact(first.step, head.startedAt)}`,
    ...shownDifference(first),
    ...(different > 1 ? ['what follows answers orders of then, and tells less and less'] : []),
    ...ending,
  ];
}

const shownFact = ({ now, fact, orders }: FactsStep, startedAt: number): string =>
  cut(`${(now - startedAt).toFixed(0).padStart(7)} ms  ${JSON.stringify(fact)}  (${orders.length} orders)`);

/** Orders that are the same stand once; `-` is what was ordered then, `+` what is now. */
function shownDifference({ then, now }: Difference): string[] {
  let same = 0;
  while (same < then.length && same < now.length && then[same] === now[same]) same += 1;
  return [
    ...then.slice(0, same).map((order) => `      ${cut(order)}`),
    ...then.slice(same).map((order) => `    - ${cut(order)}`),
    ...now.slice(same).map((order) => `    + ${cut(order)}`),
  ];
}
