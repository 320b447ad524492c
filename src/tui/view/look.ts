import { createContext, useContext } from 'react';
import { type Glyphs, UNICODE } from '../drawing/glyphs.ts';
import type { Styling } from './ansi.ts';

/** What the terminal can show. */
export interface Look {
  glyphs: Glyphs;
  styling: Styling;
}

export const LookContext = createContext<Look>({ glyphs: UNICODE, styling: 'color' });

export function useLook(): Look {
  return useContext(LookContext);
}
