/** What last-resort.test.ts has no time for: it hears every hole in a voice, and this waits for a minute. */
import { expect, it } from 'vitest';
import { FakeChat } from '../../support/fakes/fake-chat.ts';
import { reply } from '../../support/fakes/fake-http.ts';
import { ask, callTo } from './voiceless.ts';

it('a call ends with the announcement after a minute without a voice', async (test) => {
  const refusing = new FakeChat(reply({ status: 503, chunks: ['{}'] }));
  await refusing.start();
  test.onTestFinished(() => refusing.close());
  const line = await callTo({ tts: refusing.baseUrl }, test);
  await ask(line, 'what time is it');
  const played = line.call.next(({ type }) => type === 'mark');
  expect(await line.call.next(({ type }) => type === 'stop')).toMatchObject({ reason: 'ended' });
  expect(await played).toBeDefined();
});
