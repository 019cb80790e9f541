/** Nodes of a flow with a voice, an LLM and a language of their own: what the providers are asked, also when the worker dies in such a node. */
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadFlite } from '../../../examples/demo/flite.ts';
import { answer, sayAndCall, toolCall } from '../../support/fakes/fake-chat.ts';
import type { FakeReply } from '../../support/fakes/fake-http.ts';
import { Providers, TestService } from '../../support/process/service.ts';

const asked = 'could you tell me about my invoice please';
let service: TestService;
let question: Int16Array;

beforeAll(async () => {
  question = (await loadFlite())(asked, { voice: 'slt', speed: 1 });
});
afterEach(async () => {
  await service.stop();
});

const flow = `
[flow]
start = "hall"
[flow.nodes.hall]
prompt = "You are in the hall."
[[flow.nodes.hall.next]]
to = "office"
when = "it is about money"
[flow.nodes.office]
prompt = "You are in the office."
say = "${'Here is the office. '.repeat(30).trim()}"
voice = "anna"
llm = "large"
language = "de"
[[flow.nodes.office.next]]
to = "hall"
when = "it is about something else"
`;

interface Said {
  readonly text: string;
  readonly voice: unknown;
}

const said = ({ tts }: Providers): readonly Said[] =>
  tts.requests.map(({ body }) => ({ text: String(body['input']), voice: body['voice'] }));
const voicesOf = (providers: Providers, start: string): ReadonlySet<unknown> =>
  new Set(said(providers).flatMap(({ text, voice }) => (text.startsWith(start) ? [voice] : [])));

async function start(workers: number): Promise<Providers> {
  const providers = await new Providers().start();
  const agentText = providers.agentText({ tables: flow }).replace(/prompt = "You are under test."\n/, '');
  service = await TestService.start({ workers, providers, agentText });
  return providers;
}

/** The LLM goes back when the caller asks for it in the office, however often it is asked to go on with what it said. */
const leaves: FakeReply = (request) => {
  const messages = request.body['messages'] as readonly { readonly role: string }[];
  const isOffice = JSON.stringify(request.body['tools'] ?? []).includes('go_to_hall');
  const isAsked = messages.at(-1)?.role === 'user';
  const next = isOffice && isAsked ? toolCall('go_to_hall', {}, 'two') : undefined;
  (next ?? answer(isOffice ? 'Was kann ich tun?' : 'Back in the hall.'))(request);
};

async function ask(client: Awaited<ReturnType<TestService['call']>>): Promise<void> {
  service.providers.stt.utterances.push(asked);
  await client.say(question);
}

describe('a node with a voice, an LLM and a language of its own', () => {
  it('has them from its first word to its last, also in another worker', async () => {
    const providers = await start(2);
    const { llm, tts } = providers;
    llm.script.push(
      sayAndCall('Let me see.', 'go_to_office', {}, 'one'),
      ...Array.from({ length: 8 }, () => leaves),
    );
    const client = await service.call();
    await ask(client);
    await tts.until(() => voicesOf(providers, 'Here is the office.').size > 0);
    expect([...voicesOf(providers, 'Let me see.')]).toEqual([undefined]);
    expect([...voicesOf(providers, 'Here is the office.')]).toEqual(['anna']);
    await llm.until(() => llm.requests.length > 1);
    expect(llm.requests.map(({ body }) => body['model'])).toEqual(['fake', 'large']);
    const before = said(providers).length;
    process.kill(await service.workerOf(client), 'SIGKILL');
    await service.says('call taken up');
    await tts.until(() => said(providers).length > before);
    await ask(client);
    await tts.until(() => voicesOf(providers, 'Back in the hall.').size > 0);
    const since = said(providers).slice(before);
    const inOffice = since.filter(({ text }) => !text.startsWith('Back'));
    expect(new Set(inOffice.map(({ voice }) => voice))).toEqual(new Set(['anna']));
    expect([...voicesOf(providers, 'Back in the hall.')]).toEqual([undefined]);
    expect(llm.requests.at(-1)?.body['model']).toBe('fake');
    await client.hangUp();
  });
});
