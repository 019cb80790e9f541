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
  const needed = failed || handedOn || response.continues || story.tts.givenUp;
  story.demand(scene.now, needed, 'an announcement without need');
  story.demand(scene.now, response.said === '' && text.trim() === announcement, 'another announcement');
  response.announced = true;
  response.said += text;
  story.tts.given(response.context, response.said.length, { proves: false });
}
