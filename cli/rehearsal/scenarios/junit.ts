/** Results of a rehearsal as JUnit XML, the form that build servers read. Pure; every text is escaped. */
import { shownCall } from './judge.ts';
import type { ScenarioResult } from './run-scenario.ts';

/** Text as XML, without the characters that XML cannot hold at all. */
const xml = (text: string): string =>
  text
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;');

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

function testCase({ name, failures, tookMs, turns, faults }: ScenarioResult, suite: string): string[] {
  const [first, ...others] = failures;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  const lines = [...shownCall(turns), ...faults.map((fault) => `fault ${fault}`)];
  return [
    `    <testcase name="${xml(name)}" classname="${xml(suite)}" time="${seconds(tookMs)}">`,
    ...(first === undefined
      ? []
      : [`      <failure message="${xml(first + more)}">${xml(failures.join('\n'))}</failure>`]),
    `      <system-out>${xml(lines.join('\n'))}</system-out>`,
    '    </testcase>',
  ];
}

/** The report of one agent. */
export function junitReport(
  results: readonly ScenarioResult[],
  { suite, tookMs }: { readonly suite: string; readonly tookMs: number },
): string {
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  const counts = `tests="${results.length}" failures="${failed}" errors="0" skipped="0" time="${seconds(tookMs)}"`;
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="rehearsal" ${counts}>`,
    `  <testsuite name="${xml(suite)}" ${counts}>`,
    ...results.flatMap((result) => testCase(result, suite)),
    '  </testsuite>',
    '</testsuites>',
  ];
  return `${lines.join('\n')}\n`;
}
