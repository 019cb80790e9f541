/** The microphones and loudspeakers that a call may use. */

export interface AudioDevices {
  readonly microphones: readonly MediaDeviceInfo[];
  /** Empty where the browser does not let a page choose. */
  readonly speakers: readonly MediaDeviceInfo[];
}

/** Browsers name devices only to a page that has the microphone: ask once a call has started. */
export async function audioDevices(): Promise<AudioDevices> {
  if (!('mediaDevices' in navigator)) return { microphones: [], speakers: [] };
  const devices = await navigator.mediaDevices.enumerateDevices();
  const named = devices.filter(({ deviceId, label }) => deviceId !== '' && label !== '');
  const canChoose = 'setSinkId' in AudioContext.prototype;
  return {
    microphones: named.filter(({ kind }) => kind === 'audioinput'),
    speakers: canChoose ? named.filter(({ kind }) => kind === 'audiooutput') : [],
  };
}
