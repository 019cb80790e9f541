import { describe, expect, it } from 'vitest';
import { AgentVoice } from '../../../web/client/agent-voice.ts';
import { DEFAULT_EVENTS } from '../../../web/client/conversation-events.ts';

describe('the voice of the agent', () => {
  it.each([[[]], [['user.text'] as const], [['turn.bot_started'] as const]])(
    'is what sounds, where the service is asked for %j',
    (events) => {
      const voice = new AgentVoice(events);
      expect(voice.sounded(100)).toEqual({ type: 'started', atMs: 100 });
      expect(voice.sounded(200)).toBeUndefined();
      expect(voice.fellSilent(900)).toEqual({ type: 'ended', atMs: 900 });
      expect(voice.fellSilent(950)).toBeUndefined();
    },
  );

  it('is nothing that sounds before the service has told of it: a background is there from the first moment', () => {
    const voice = new AgentVoice(DEFAULT_EVENTS);
    expect(voice.sounded(0)).toBeUndefined();
    expect(voice.fellSilent(500)).toBeUndefined();
    expect(voice.sounded(600)).toBeUndefined();
    expect(voice.told('bot.text', 1_900)).toBeUndefined();
    expect(voice.told('turn.bot_started', 2_000)).toEqual({ type: 'started', atMs: 2_000 });
  });

  it('is told by the service, where something sounds all the time', () => {
    const voice = new AgentVoice(DEFAULT_EVENTS);
    voice.sounded(0);
    expect(voice.told('turn.bot_started', 2_000)).toEqual({ type: 'started', atMs: 2_000 });
    expect(voice.told('turn.bot_ended', 4_000)).toEqual({ type: 'ended', atMs: 4_000 });
    expect(voice.told('turn.bot_started', 7_000)).toEqual({ type: 'started', atMs: 7_000 });
    expect(voice.told('bot.heard', 7_500)).toBeUndefined();
    expect(voice.told('turn.interrupted', 8_000)).toEqual({ type: 'ended', atMs: 8_000 });
    expect(voice.fellSilent(9_000)).toBeUndefined();
    expect(voice.sounded(9_100)).toBeUndefined();
  });

  it('begins with its sound, whichever of the two is known first', () => {
    const voice = new AgentVoice(DEFAULT_EVENTS);
    voice.told('turn.bot_ended', 0);
    expect(voice.told('turn.bot_started', 1_000)).toBeUndefined();
    expect(voice.sounded(1_060)).toEqual({ type: 'started', atMs: 1_060 });
    voice.fellSilent(2_000);
    voice.told('turn.bot_ended', 2_050);
    expect(voice.sounded(3_000)).toBeUndefined();
    expect(voice.told('turn.bot_started', 3_120)).toEqual({ type: 'started', atMs: 3_000 });
  });

  it('ends with its sound, before the service knows that it was heard', () => {
    const voice = new AgentVoice(DEFAULT_EVENTS);
    voice.told('turn.bot_started', 0);
    voice.sounded(60);
    expect(voice.fellSilent(2_000)).toEqual({ type: 'ended', atMs: 2_000 });
    expect(voice.told('turn.bot_ended', 2_100)).toBeUndefined();
  });
});
