/** What the terminal can show, as far as the environment says. */
import { signsFor, UNICODE_SIGNS } from '../../text/signs.ts';
import { ASCII, UNICODE } from '../drawing/glyphs.ts';
import type { Look } from '../view/look.ts';

export function lookOf(env: NodeJS.ProcessEnv): Look {
  const hasColor = !env.NO_COLOR && env.TERM !== 'dumb';
  return { glyphs: signsFor(env) === UNICODE_SIGNS ? UNICODE : ASCII, styling: hasColor ? 'color' : 'plain' };
}
