import { Box, useInput, usePaste } from 'ink';
import { useSyncExternalStore } from 'react';
import type { Store } from '../live/store.ts';
import { bannerLines, footerLine, headerLines } from '../model/header-lines.ts';
import { keyNames } from '../model/key-names.ts';
import { layoutOf } from '../model/layout.ts';
import { promptLines } from '../model/prompt-lines.ts';
import { Lines, SpanLine } from './lines.tsx';
import { type Look, LookContext } from './look.ts';
import { Body } from './screens.tsx';

/** The whole screen. It has no state of its own: keys go to the store, and the state of the store is drawn. */
export function Dashboard({ store, look }: { store: Store; look: Look }) {
  const state = useSyncExternalStore(store.subscribe, store.get);
  useInput((input, key) => {
    for (const name of keyNames(input, key)) store.dispatch({ kind: 'key', key: name });
  });
  usePaste((text) => store.dispatch({ kind: 'paste', text }));
  const { columns, rows } = state.size;
  const { glyphs } = look;
  const { promptHeight } = layoutOf(state);
  const header = [...headerLines(state, glyphs), ...bannerLines(state, glyphs)];
  return (
    <LookContext value={look}>
      <Box flexDirection="column" width={columns} height={rows}>
        <Lines lines={header} width={columns} height={header.length} />
        <Body state={state} />
        {promptHeight > 0 && (
          <Lines lines={promptLines(state, glyphs)} width={columns} height={promptHeight} />
        )}
        <SpanLine line={footerLine(state, glyphs)} width={columns} />
      </Box>
    </LookContext>
  );
}
