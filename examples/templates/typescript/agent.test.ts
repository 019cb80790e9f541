/** Rehearses the agent without a service, a model or a network: npm test. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ScriptedCall } from '@voice-agent-service/agent/testing';
import { agent } from './agent.ts';

void test('looks up orders', async () => {
  const call = await ScriptedCall.start(agent);
  assert.deepEqual(await call.callTool('order_status', { order_number: '427' }), { result: 'ready' });
  assert.deepEqual(await call.callTool('order_status', { order_number: '1' }), {
    result: 'still in the oven',
  });
});

void test('ends the call after a goodbye', async () => {
  const call = await ScriptedCall.start(agent);
  call.userSays('Thank you, goodbye!');
  const command = await call.nextCommand();
  assert.equal(command.type, 'end');
});
