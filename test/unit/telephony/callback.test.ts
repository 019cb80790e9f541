/** The callback listener of a process whose transfers another one has taken over. */
import { expect, it, onTestFinished } from 'vitest';
import { Sensitive } from '../../../shared/config/sensitive.ts';
import { callbackListener } from '../../../supervisor/telephony/callback/listener.ts';
import type { ListenerContext } from '../../../supervisor/listeners/listener.ts';

it('lets a client that has kept its connection ask again on a new one', async () => {
  const callback = { addr: { host: '127.0.0.1', port: 0 }, secret: new Sensitive('s'.repeat(32)) };
  const context = { settings: { callback }, health: { unready: () => undefined } };
  const { server, address } = await callbackListener.open(context as unknown as ListenerContext, {
    given: undefined,
    isLeaving: () => true,
  });
  onTestFinished(() => void server.close());
  const answer = await fetch(`http://${address}/transfers`, {
    headers: { authorization: `Bearer ${'s'.repeat(32)}` },
  });
  expect([answer.status, answer.headers.get('connection')]).toEqual([503, 'close']);
  expect(await answer.text()).toContain('"restarting"');
});
