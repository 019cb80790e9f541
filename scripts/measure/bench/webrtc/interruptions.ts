/**
 * Interruptions over WebRTC as a caller hears them: from the first loud sample to silence at a loudspeaker, in Chromium or behind a jitter
 * buffer of the bench's own.
 */
import { newPrng } from '../../../../shared/base/prng.ts';
import { bufferMs, webrtcTalk } from '../client/webrtc-talker.ts';
import { afterFrames, callsAtOnce, material, withDemo } from '../interruptions.ts';
import { machineUse } from '../processes.ts';
import { ms, table, times } from '../report/report.ts';
import type { FloorRow } from '../report/statistics.ts';
import { openChromiumTalkers } from './chromium/talker.ts';
import { Distribution, parseMetrics, type Summary } from '../report/statistics.ts';
import type { RunOptions } from '../run.ts';

const limitMs = 300;
/** A frame of 20 ms. */
const offsets = 320;

/** More tabs than cores would make the browser late. */
const tabsAtOnce = 1;

export interface WebrtcInterruptions {
  readonly chromium: boolean;
  readonly calls: number;
  /** Calls in which the agent gave up what it was saying; in the others it went on. */
  readonly cut: number;
  readonly toSilence: Summary;
  readonly p95Ms: number;
  /** The slowest calls by the name of their recording. */
  readonly slowest: readonly { readonly name: string; readonly ms: number }[];
  /** Calls that were not interrupted, and why. */
  readonly wrong: readonly string[];
  readonly loadAverage: number;
}

export async function webrtcInterruptions(
  options: Pick<RunOptions, 'root' | 'workers' | 'variables' | 'assets' | 'realtime'> & {
    readonly rounds: number;
    readonly chromium: boolean;
  },
): Promise<WebrtcInterruptions> {
  const variables = {
    SVC_WEBRTC_ADDR: '127.0.0.1:0',
    SVC_WEBRTC_OFFERS_PER_MINUTE: 'off',
    ...options.variables,
  };
  return withDemo({ ...options, variables }, async (service) => {
    const { callers } = await material(options.assets);
    const { host, port } = service.addressOf('webrtc');
    const prng = newPrng(4);
    const plans = Array.from({ length: options.rounds }, () => callers).flatMap((round) =>
      round.map(({ name, pcm, loudAt }) => {
        const offset = prng.below(offsets);
        return { name, url: `http://${host}:${port}/whip`, sound: pcm, loudAt, afterFrames, offset };
      }),
    );
    const toSilence = new Distribution();
    const wrong: string[] = [];
    const heard: { name: string; ms: number }[] = [];
    const { chromium } = options;
    const talkers = chromium ? await openChromiumTalkers(options.root) : undefined;
    const talk = async (plan: (typeof plans)[number]): Promise<void> => {
      const found = await (talkers?.talk(plan) ?? webrtcTalk(plan));
      if (typeof found === 'number') {
        toSilence.add(found);
        heard.push({ name: plan.name, ms: found });
      } else wrong.push(`${plan.name}: ${found}`);
    };
    await talkAll(plans, chromium ? tabsAtOnce : callsAtOnce, talk);
    await talkers?.close();
    const cut = parseMetrics(await service.metrics()).get('svc_interruptions_total') ?? 0;
    return {
      chromium,
      calls: plans.length,
      cut,
      toSilence: toSilence.summary(),
      p95Ms: toSilence.quantile(0.95),
      wrong,
      slowest: heard.sort((one, other) => other.ms - one.ms).slice(0, 5),
      loadAverage: machineUse().loadAverage,
    };
  });
}

async function talkAll<P>(
  plans: readonly P[],
  atOnce: number,
  talk: (plan: P) => Promise<void>,
): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    for (let plan = plans[next]; plan !== undefined; plan = plans[next]) {
      next += 1;
      await talk(plan);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

export const judgeWebrtcInterruptions = ({ calls, cut, p95Ms }: WebrtcInterruptions): FloorRow[] => [
  {
    rule: `from the first loud sample to silence at the loudspeaker, p95, at most ${limitMs} ms`,
    found: `${ms(p95Ms)} ms`,
    passed: p95Ms <= limitMs,
  },
  {
    rule: 'every caller interrupts',
    found: `${cut} of ${calls}`,
    passed: cut === calls,
  },
];

export function describeWebrtcInterruptions(result: WebrtcInterruptions): string {
  const { chromium, toSilence, slowest, wrong, loadAverage } = result;
  const where = chromium ? 'in Chromium' : `loudspeaker ${bufferMs} ms behind`;
  const rows = judgeWebrtcInterruptions(result);
  return [
    `interruptions over WebRTC, ${where}; load average ${loadAverage}`,
    ...table([
      ['ms', 'p50', 'p99', 'max', 'count'],
      times('from the first loud sample to silence', toSilence),
    ]),
    `  slowest: ${slowest.map((one) => `${one.name} ${ms(one.ms)}`).join(', ')}`,
    ...wrong.map((one) => `  ${one}`),
    '',
    ...table([
      ['interruptions over WebRTC', 'found', ''],
      ...rows.map((row) => [row.rule, row.found, row.passed ? 'PASS' : 'FAIL']),
    ]),
    rows.every(({ passed }) => passed) ? '  PASS' : '  FAIL',
  ].join('\n');
}
