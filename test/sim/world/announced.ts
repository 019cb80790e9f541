/** Judges the announcement: it comes first, says what it says, and only where TTS has failed. */
import type { Scene, Story, StoryResponse } from '../story.ts';

export function noteAnnouncement(
  story: Story,
  scene: Scene,
  spoken: { response: StoryResponse; text: string },
) {
  const { response, text } = spoken;
  const { announcement } = story.settings;
  const failed = scene.actions.some((one) => one.type === 'fault.noticed' && one.stage === 'tts');
  const handedOn = scene.event.type === 'call.resumed';
  // Of a TTS that says nothing behind the announcement the step before has told.
  const again = scene.event.type === 'playout.drained' && story.tts.isFailing;
  const needed = failed || handedOn || again || response.continues || story.tts.givenUp;
  story.demand(scene.now, needed, 'an announcement without need');
  story.demand(scene.now, response.said === '' && text.trim() === announcement, 'another announcement');
  response.announced = true;
  response.said += text;
  story.tts.given(response.context, response.said.length, { proves: false });
}
