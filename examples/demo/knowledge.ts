/**
 * What the demo pretends to know: made-up weather and made-up orders.
 *
 * Invariant: the same question has the same answer, and every answer that is made up says so.
 */
import { sayCity } from './spoken-values.ts';
import type { City } from './domain.ts';

const weather: Readonly<Record<City, readonly [degrees: number, sky: string]>> = {
  london: [14, 'light rain'],
  paris: [18, 'clear sky'],
  berlin: [11, 'clouds'],
  madrid: [24, 'sunshine'],
  rome: [22, 'sunshine'],
  vienna: [13, 'some clouds'],
  amsterdam: [12, 'wind and rain'],
  dublin: [10, 'showers'],
  istanbul: [20, 'a clear sky'],
  'new york': [16, 'some clouds'],
  boston: [9, 'fog'],
  chicago: [7, 'strong wind'],
  tokyo: [19, 'a clear sky'],
  sydney: [26, 'sunshine'],
};

export function sayWeather(city: City, day: string): string {
  const [degrees, sky] = weather[city];
  const later = day !== 'today';
  const verb = later ? 'will be' : 'is';
  const value = later ? degrees + 1 : degrees;
  const when = later
    ? day === 'tomorrow'
      ? ' tomorrow'
      : ` on ${day.charAt(0).toUpperCase()}${day.slice(1)}`
    : '';
  return `In ${sayCity(city)} it ${verb} ${value} degrees with ${sky}${when}. That is demo data, not a real forecast.`;
}

const states = [
  'is packed and leaves the warehouse today',
  'is on its way and arrives tomorrow',
  'was delivered yesterday',
  'is waiting for one item and ships on Monday',
] as const;

export function sayOrder(number: string): string {
  const sum = Array.from(number).reduce((total, digit) => total + Number(digit), 0);
  const state = states[sum % states.length] ?? states[0];
  return `Order ${Array.from(number).join(' ')} ${state}. That is demo data.`;
}
