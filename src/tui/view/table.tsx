import { Box } from 'ink';
import { memo, useMemo } from 'react';
import type { Line } from '../drawing/line.ts';
import { type Column, columnsFor } from '../model/columns.ts';
import type { Entry } from '../model/entry.ts';
import { listHeight } from '../model/layout.ts';
import { cursorIndex, visibleEntries } from '../model/selection.ts';
import type { RowDetail, State } from '../model/state.ts';
import { rowLine, titleLine } from '../model/table-lines.ts';
import { silenceOver } from '../silences/silenced.ts';
import { SpanLine } from './lines.tsx';
import { useLook } from './look.ts';

export function Table({ state }: { state: State }) {
  const { columns: width } = state.size;
  const columns = useMemo(() => columnsFor(width), [width]);
  const { glyphs } = useLook();
  const { sort, reverse } = state.collection.arrangement;
  const titles = useMemo(
    () => titleLine(columns, { sort, reverse }, glyphs),
    [columns, sort, reverse, glyphs],
  );
  const selectedIndex = cursorIndex(state) - state.top;
  const rows = visibleEntries(state);
  return (
    <Box flexDirection="column" height={listHeight(state) + 1}>
      <SpanLine line={titles} width={width} />
      {rows.map((entry, index) => (
        <Row
          key={entry.token}
          entry={entry}
          columns={columns}
          width={width}
          now={state.now}
          detail={state.rows.get(entry.token)}
          isSelected={index === selectedIndex}
          isMarked={state.marks.has(entry.token)}
          isSilenced={silenceOver(state.silences, entry.snitch, state.now) !== null}
        />
      ))}
      {rows.length === 0 && <SpanLine line={emptyLine(state)} width={width} />}
    </Box>
  );
}

function emptyLine({ heardAt, collection: { entries } }: State): Line {
  if (heardAt === null) return [{ text: '  Nothing has been read yet.', dim: true }];
  return [
    {
      text:
        entries.size === 0
          ? '  There are no snitches yet: n creates one.'
          : '  No snitch matches the filter.',
      dim: true,
    },
  ];
}

interface RowProps {
  entry: Entry;
  columns: readonly Column[];
  width: number;
  now: number;
  detail: RowDetail | undefined;
  isSelected: boolean;
  isMarked: boolean;
  isSilenced: boolean;
}

/** Memoised, because a key press changes only two rows of the screen. */
const Row = memo(function Row({ entry, width, ...look }: RowProps) {
  const { glyphs } = useLook();
  return <SpanLine line={rowLine(entry, { ...look, width, glyphs })} width={width} />;
});
