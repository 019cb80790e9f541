/** The order of test files where nothing is known of earlier runs, as in a fresh clone. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, the longest in front: one that began last would leave the other cores idle. */
const longest = [
  'faults/restart',
  'telephony/demo.real',
  'watching/monitor.real',
  'process/recording.real',
  'mutants/mutants',
  'faults/minute-without-voice',
  'interop/full-call',
  'demo/install',
  'test/site',
  'faults/resume',
  'interop/pipecat',
  'realtime/calls',
  'process/package',
  'telephony/killed-worker.real',
  'service/states.real',
  'process/tools',
  'sdk/examples.real',
  'interop/realtime-call',
  'calls/faults.real',
  'interop/page-call',
  'calls/ends.real',
  'process/fleet',
  'sdk/service.real',
  'sim/tools',
  'sim/realtime-hours',
  'faults/poison',
  'faults/deaths',
  'faults/failover',
  'demo/speech',
  'stt/stt-cloud',
  'echo/echo-detector',
  'contract/failover-suites',
  'agents/agents',
].map((name) => `/${name}.test.ts`);

const place = ({ moduleId }: TestSpecification): number => {
  const at = longest.findIndex((name) => moduleId.endsWith(name));
  return at < 0 ? longest.length : at;
};

/** One project after the other: a thread that changes between them loads anew what files of one share. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) =>
      sorted.filter((file) => file.project === project).toSorted((one, other) => place(one) - place(other)),
    );
  }
}
