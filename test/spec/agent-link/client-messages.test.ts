/** Messages between the program of a caller and the agent (docs/reference/agent-link.md, Messages of a client), on the machine of the link. */
import { describe, expect, it } from 'vitest';
import { agentLinkBacklog } from '../../../shared/agent-link/limits.ts';
import { serviceMessageSchemas } from '../../../shared/agent-link/service-messages.ts';
import { newLink } from '../../../worker/agent-link/link-state.ts';
import { LinkDriver, linkSettings, written } from '../../support/link-driver.ts';

const said = { name: 'cart', id: 'm1', data: { items: [1] } };
const withClient = () => new LinkDriver(newLink({ ...linkSettings, takesMessages: true }, 0)).accepted();
const giveTo = (link: LinkDriver, message = said) => link.give({ type: 'client.said', message });

describe('client.message', () => {
  it('is told with name, id and data, and the client is heard', () => {
    const orders = giveTo(withClient());
    expect(orders.at(-1)).toEqual({ type: 'client.heard' });
    const [{ seq: _seq, t_ms: _tMs, ...fields }] = written(orders) as [ReturnType<typeof written>[0]];
    expect(fields).toEqual({ type: 'client.message', name: 'cart', message_id: 'm1', data: { items: [1] } });
    expect(serviceMessageSchemas['client.message'].strict().parse(fields)).toEqual(fields);
  });

  it('data that is not there is null', () => {
    const orders = withClient().give({ type: 'client.said', message: { ...said, data: undefined } });
    expect(written(orders)).toMatchObject([{ data: null }]);
  });

  const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);

  it.each([
    ['before the agent has accepted', new LinkDriver().opened(), said],
    ['where the agent did not choose it', new LinkDriver().accepted({ events: ['user.text'] }), said],
    ['with a name that is too long', withClient(), { ...said, name: 'n'.repeat(257) }],
    ['with an id that is too long', withClient(), { ...said, id: 'n'.repeat(257) }],
    ['nested too deeply', withClient(), { ...said, data: nested(65) as typeof said.data }],
  ])('%s: the client is not heard, and nothing is told', (_, link, message) => {
    expect(giveTo(link, message)).toEqual([]);
  });

  it('larger than a message may be: the client is not heard, and the agent learns of the gap', () => {
    const link = withClient();
    expect(giveTo(link, { ...said, data: { items: Array(40_000).fill(1) as number[] } })).toEqual([]);
    expect(written(giveTo(link))).toMatchObject([
      { type: 'events.lost', count: 1 },
      { type: 'client.message' },
    ]);
  });

  it('to an agent that reads slowly goes with the other events', () => {
    const link = withClient();
    link.bufferedBytes = agentLinkBacklog.dropEventsBytes + 1;
    expect(giveTo(link)).toEqual([]);
  });

  it('waits for an agent that takes its call up again, and for no other', () => {
    const resumes = withClient();
    const gone = withClient();
    resumes.state.terms = { resume: true };
    for (const link of [resumes, gone]) link.give({ type: 'socket.closed', why: '' });
    expect(giveTo(gone)).toEqual([]);
    expect(giveTo(resumes)).toEqual([{ type: 'client.heard' }]);
    resumes.at(1);
    resumes.give({ type: 'socket.opened' });
    const orders = resumes.says({ type: 'session.accept', version: 1, last_seq: 1 });
    expect(written(orders)).toMatchObject([{ type: 'client.message', message_id: 'm1' }]);
  });
});

describe('client.send', () => {
  const sent = (fields: Readonly<Record<string, unknown>>, link = withClient()) =>
    link.says({ type: 'client.send', id: 'a', ...fields });
  const done = [{ type: 'command.result', id: 'a', ok: true }];

  it('gives the client any JSON', () => {
    for (const data of [null, 'text', 7, { a: [true] }]) {
      const orders = sent({ data });
      expect(orders).toContainEqual({ type: 'client.send', message: { data } });
      expect(written(orders)).toMatchObject(done);
    }
  });

  it('answers a message by its id and its name', () => {
    expect(sent({ data: 1, answers: 'm1', name: 'cart' })).toContainEqual({
      type: 'client.send',
      message: { data: 1, answers: { id: 'm1', name: 'cart' } },
    });
  });

  it('is sent once for one id', () => {
    const link = withClient();
    sent({ data: 1 }, link);
    const again = sent({ data: 1 }, link);
    expect(again.map(({ type }) => type)).toEqual(['send']);
    expect(written(again)).toMatchObject(done);
  });

  it.each([
    ['without data', {}, 'invalid_message'],
    ['with an id of an answer that is too long', { data: 1, answers: 'x'.repeat(257) }, 'invalid_message'],
  ])('%s is refused', (_, fields, code) => {
    expect(written(sent(fields))).toMatchObject([{ ok: false, error: { code } }]);
  });

  it('is unsupported where the transport has no such messages', () => {
    expect(written(sent({ data: 1 }, new LinkDriver().accepted()))).toMatchObject([
      {
        ok: false,
        error: { code: 'unsupported', message: 'the client of this call takes no messages' },
      },
    ]);
  });
});
