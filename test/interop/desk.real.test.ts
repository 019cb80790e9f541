/** The page of the desk in a real browser: a warm transfer is seen, accepted and declined there, and axe finds nothing wrong. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumMissing, openChromium } from '../support/chromium.ts';
import { sayAndCall } from '../support/fakes/fake-chat.ts';
import { carrierEnv, FakeStream, postEvent, postVoice, streamUrlOf } from '../support/fakes/fake-twilio.ts';
import { TestService } from '../support/process/service.ts';
import { FakeTwilioApi } from '../support/telephony/fake-twilio-api.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const secret = 'o'.repeat(32);
const summary = 'Ada <b>asks</b> about an invoice.';
const turn = `
[telephony]
warm_transfer = true
caller_id = "+15550100002"
[telephony.destinations]
billing = "+15550100077"
`;

describe.skipIf(chromiumMissing !== undefined)(`the desk page ${chromiumMissing ?? ''}`, () => {
  let service: TestService;
  let api: FakeTwilioApi;
  let browser: Awaited<ReturnType<typeof openChromium>>;
  let page: Page;

  beforeAll(async () => {
    api = await new FakeTwilioApi().start();
    const env = {
      ...{ ...carrierEnv, ...api.env, SVC_CARRIER_A_RESUME_STREAM: '1' },
      ...{ SVC_CALLBACK_ADDR: '127.0.0.1:0', SVC_CALLBACK_SECRET: secret },
    };
    service = await TestService.start({ turn, env });
    api.listener = service.address('carrier_a');
    browser = await openChromium('/dev/null');
    page = await browser.browser.newPage();
    await page.goto(`http://${service.address('callback')}/desk`);
  });

  afterAll(async () => {
    await browser.close();
    await service.stop();
    await api.close();
  });

  /** A caller who waits while the destination rings. */
  async function rings(callSid: string): Promise<void> {
    const response = await postVoice(service.address('carrier_a'), callSid);
    const url = streamUrlOf(await response.text());
    const stream = new FakeStream(service.address('carrier_a'), { callSid, url });
    api.streams.set(callSid, stream);
    await stream.until(() => stream.status !== 0);
    stream.begin();
    const args = { destination: 'billing', mode: 'warm', summary };
    service.providers.llm.script.push(sayAndCall('One moment.', 'transfer_call', args));
    for (const digit of '1#') stream.press(digit);
    await page.getByText('billing: rings', { exact: true }).waitFor();
  }

  async function answers(): Promise<void> {
    const headers = { authorization: `Bearer ${secret}` };
    const response = await fetch(`http://${service.address('callback')}/transfers`, { headers });
    const { transfers } = (await response.json()) as { transfers: { handle: string }[] };
    const path = `/carrier_a/events/amd/${transfers[0]?.handle ?? ''}`;
    const leg = api.requests.filter((request) => request.path === '/Calls.json').length;
    await postEvent(service.address('carrier_a'), path, { CallSid: `CA900${leg}`, AnsweredBy: 'human' });
  }

  const violations = async (): Promise<string[]> => {
    await page.evaluate(axeSource);
    return page.evaluate(
      `axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' ' + target)))`,
    );
  };

  it('says when the secret is wrong, and that nobody waits when it is right', async () => {
    expect(await violations()).toEqual([]);
    await page.getByLabel('Secret').fill('x'.repeat(32));
    await page.getByLabel('Secret').blur();
    await page.getByText('The secret is not the right one.').waitFor();
    await page.getByLabel('Secret').fill(secret);
    await page.getByLabel('Secret').blur();
    await page.getByText('Nobody waits.').waitFor();
  });

  it('says when the service does not answer, and no longer when it does', async () => {
    await page.route('**/transfers', (route) => route.abort());
    await page.getByText('The service does not answer.').waitFor();
    await page.unroute('**/transfers');
    await page.getByText('Nobody waits.').waitFor();
  });

  it('shows who waits, as text, and accepts once somebody has answered', async () => {
    await rings('CA0001');
    await page.getByText(summary, { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Accept' }).isDisabled()).toBe(true);
    expect(await page.title()).toBe('(1) Transfer desk');
    await answers();
    await page.getByText('somebody has answered').waitFor();
    expect(await violations()).toEqual([]);
    const picture = process.env['SVC_TEST_PICTURE'];
    if (picture !== undefined) await page.screenshot({ path: picture });
    await page.getByRole('button', { name: 'Accept' }).click();
    await service.says('a warm transfer has moved', (line) => line['phase'] === 'joined');
    await page.getByText('Nobody waits.').waitFor();
  });

  it('declines, and the caller is back with the agent', async () => {
    await rings('CA0002');
    await page.getByRole('button', { name: 'Decline' }).click();
    await service.says('a warm transfer has moved', (line) => line['phase'] === 'back');
    await page.getByText('Nobody waits.').waitFor();
  });
});
