import { createContext, useContext } from 'react';
import { type Glyphs, UNICODE } from '../model/glyphs.ts';

/** What the terminal can show. */
export interface Look {
  glyphs: Glyphs;
  color: boolean;
}

export const LookContext = createContext<Look>({ glyphs: UNICODE, color: true });

export function useLook(): Look {
  return useContext(LookContext);
}
