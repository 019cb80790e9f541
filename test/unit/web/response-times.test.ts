import { describe, expect, it } from 'vitest';
import { ResponseTimes } from '../../../web/client/response-times.ts';

describe('the response times', () => {
  it('measure from the end of the speech to the first sound', () => {
    const times = new ResponseTimes();
    times.speechStarted(false);
    times.speechEnded(1_000);
    times.sounded(1_700);
    times.sounded(2_500);
    expect([times.count, times.lastMs]).toEqual([1, 700]);
  });

  it('count an answer that sounded before the end of the speech was certain', () => {
    const times = new ResponseTimes();
    times.speechStarted(false);
    times.sounded(1_200);
    times.speechEnded(1_000);
    expect(times.lastMs).toBe(200);
  });

  it('count no greeting and no sound in the middle of the speech', () => {
    const times = new ResponseTimes();
    times.sounded(300);
    times.speechStarted(false);
    times.sounded(900);
    times.speechEnded(1_000);
    expect(times.count).toBe(0);
    times.sounded(1_500);
    expect(times.lastMs).toBe(500);
  });

  it('start anew when the caller goes on before the answer', () => {
    const times = new ResponseTimes();
    times.speechStarted(false);
    times.speechEnded(1_000);
    times.speechStarted(false);
    times.speechEnded(3_000);
    times.sounded(3_400);
    expect(times.lastMs).toBe(400);
  });

  it('do not take the agent going on after a cough for an answer', () => {
    const times = new ResponseTimes();
    times.speechStarted(true);
    times.fellSilent(1_300);
    times.speechEnded(1_400);
    times.sounded(1_900);
    expect(times.count).toBe(0);
  });

  it('measure the answer to an interruption once the agent was cut off', () => {
    const times = new ResponseTimes();
    times.speechStarted(true);
    times.cleared();
    times.speechEnded(2_000);
    times.sounded(2_600);
    expect(times.lastMs).toBe(600);
  });

  it('measure when the caller began over the last words and went on in silence', () => {
    const times = new ResponseTimes();
    times.speechStarted(true);
    times.fellSilent(1_000);
    times.speechEnded(2_500);
    times.sounded(3_000);
    expect(times.lastMs).toBe(500);
  });

  it('give the median of all, for odd and even counts', () => {
    const times = new ResponseTimes();
    expect(times.medianMs).toBeUndefined();
    const medians = [900, 300, 500, 700].map((ms, index) => {
      times.speechStarted(false);
      times.speechEnded(index * 10_000);
      times.sounded(index * 10_000 + ms);
      return times.medianMs;
    });
    expect(medians).toEqual([900, 600, 500, 600]);
  });
});
