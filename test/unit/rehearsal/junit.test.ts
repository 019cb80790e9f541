import { describe, expect, it } from 'vitest';
import { junitReport } from '../../../cli/rehearsal/scenarios/junit.ts';

const passed = { name: 'fine', failures: [], tookMs: 1500, faults: [], turns: [] };
const failed = {
  name: 'a "quoted" <name> & more',
  failures: ['expected "x" <y>', 'and z'],
  tookMs: 20,
  faults: ['llm: rejected'],
  turns: [{ caller: 'Hi \u0000\ud800', said: 'Hello\u001b[2J.', tools: [], nodes: [] }],
};

describe('the JUnit report', () => {
  const text = junitReport([passed, failed], { suite: 'front-desk', tookMs: 1520 });

  it('counts scenarios and failures', () => {
    expect(text).toContain(
      '<testsuites name="rehearsal" tests="2" failures="1" errors="0" skipped="0" time="1.520">',
    );
    expect(text).toContain('<testcase name="fine" classname="front-desk" time="1.500">');
    expect(text.match(/<failure /g)).toHaveLength(1);
  });

  it('escapes everything, and drops what XML cannot hold', () => {
    expect(text).toContain('name="a &quot;quoted&quot; &lt;name&gt; &amp; more"');
    expect(text).toContain('<failure message="expected &quot;x&quot; &lt;y&gt; (and 1 more)">');
    expect(text).toContain('caller: Hi \ufffd\ufffd&#10;agent: Hello\ufffd[2J.&#10;fault llm: rejected');
    expect(text.match(/[^\n\x20-\x7e\ufffd]/g)).toBeNull();
    expect(text.replaceAll(/<\/?[a-z][^<>]*>|<\?xml[^<>]*\?>|[^<>]/g, '')).toBe('');
  });
});
