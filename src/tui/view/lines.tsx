import { Box, Transform } from 'ink';
import { memo, useMemo } from 'react';
import type { Line } from '../drawing/line.ts';
import { clip, widthOfLine } from '../drawing/line.ts';
import { ansiOf } from './ansi.ts';
import { useLook } from './look.ts';

/**
 * One line. Ink would measure, wrap and tokenise each piece of it again for every frame, which takes four times as long
 * as the rest of the frame. So the line is made only when it changes, and Ink gets a single blank to put it at.
 */
export const SpanLine = memo(function SpanLine({ line, width }: { line: Line; width: number }) {
  const { styling } = useLook();
  const text = useMemo(
    () => ansiOf(widthOfLine(line) > width ? clip(line, width) : line, styling),
    [line, width, styling],
  );
  return (
    <Transform transform={() => text} accessibilityLabel={ansiOf(line, 'none')}>
      {BLANK}
    </Transform>
  );
});

const BLANK = ' ';

export interface LinesProps {
  lines: readonly Line[];
  /** Index of the first line that is shown. */
  from?: number;
  width: number;
  height: number;
}

/** As many lines as fit into `height`, beginning with `from`. */
export function Lines({ lines, from = 0, width, height }: LinesProps) {
  const first = Math.max(0, Math.min(from, lines.length - height));
  return (
    <Box flexDirection="column" height={height}>
      {lines.slice(first, first + height).map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is what is at its place on the screen.
        <SpanLine key={index} line={line} width={width} />
      ))}
    </Box>
  );
}
