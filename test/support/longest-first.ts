/** The order of test files where nothing is known of earlier runs, as in a fresh clone. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, the longest in front: one that began last would leave the other cores idle. */
const longest = [
  'sim/mutants/mutants',
  'telephony/demo.real',
  'faults/minute-without-voice',
  'telephony/killed-worker.real',
  'interop/full-call',
  'interop/pipecat',
  'sdk/examples.real',
  'process/holds',
  'sdk/service.real',
  'recording/disk.real',
  'faults/restart',
  'demo/speech',
  'echo/echo-detector',
  'process/tools',
  'interop/page.real',
  'contract/failover-sockets',
  'service/states.real',
  'faults/resume',
  'interop/page-call',
  'process/fleet',
  'process/package',
  'process/recording.real',
  'faults/deaths',
].map((name) => `/${name}.test.ts`);

const place = ({ moduleId }: TestSpecification): number => {
  const at = longest.findIndex((name) => moduleId.endsWith(name));
  return at < 0 ? longest.length : at;
};

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => place(one) - place(other));
  }
}
