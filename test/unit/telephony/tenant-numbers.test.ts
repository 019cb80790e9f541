/** A tenant's calls are handed to no number but those that the operator allows, whoever asks for it. */
import { beforeEach, describe, expect, it } from 'vitest';
import { mayCall } from '../../../shared/agents/version.ts';
import { Sensitive } from '../../../shared/config/sensitive.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import type { ControlCommand } from '../../../shared/telephony/call-control.ts';
import type { CallEvent } from '../../../worker/core/events.ts';
import { CallControl, type TelephonyServices } from '../../../worker/telephony/call-control.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';
import { newFakeWorld } from '../../support/fakes/fake-call.ts';

const numbers = ['+1555', '+4930'];
let asked: ControlCommand[];
let told: CallEvent[];
let logged: unknown[];
let control: CallControl;

beforeEach(() => {
  [asked, told, logged] = [[], [], []];
  const { carriers } = newFakeWorld().services;
  const services: TelephonyServices = {
    ...carriers,
    telephony: { ...carriers.telephony, destinations: new Map([['far', new Sensitive('+88216000000')]]) },
    ask: (command, answered) => {
      asked.push(command);
      answered({ kind: 'ok' });
    },
    mayCall: (number) => mayCall({ numbers }, number),
  };
  const metadata = { 'session.transport': 'carrier_a', 'session.carrier_call_id': 'CA1' };
  const start = { callId: 'c', sampleRate: 8_000, encoding: 'mulaw', metadata } as const;
  control = new CallControl(services, start, {
    clock: newVirtualClock(),
    log: { warn: (...line: unknown[]) => logged.push(line) } as unknown as Log,
    bind: (callback) => callback,
    tell: (event) => told.push(event),
    sendKeys: undefined,
    context: () => [],
  });
});

const transfer = (destination: string, isNumber: boolean): void => {
  const common = { type: 'carrier.transfer', commandId: 't', attempt: 1, summary: '' } as const;
  control.perform({ ...common, mode: 'cold', destination, isNumber });
};

describe('a transfer of a tenant`s call', () => {
  it.each([
    ['the agent process names', '+88216000000', true],
    ['the file names, were it in force', 'far', false],
    ['begins a little otherwise', '+1554555', true],
  ])('goes to no number that %s and the operator does not allow', (_, destination, isNumber) => {
    transfer(destination, isNumber);
    expect(asked).toEqual([]);
    expect(told).toEqual([
      { type: 'carrier.answered', commandId: 't', outcome: { kind: 'refused', code: 'rejected' } },
    ]);
    expect(JSON.stringify(logged)).toContain('allow.numbers');
    expect(JSON.stringify(logged)).not.toContain('88216');
  });

  it.each(['+15550100001', '+493012345678'])('goes to %s, which it allows', (number) => {
    transfer(number, true);
    expect(asked).toMatchObject([{ type: 'transfer', to: number }]);
  });
});
