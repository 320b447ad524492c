import { Box, Text } from 'ink';
import { memo } from 'react';
import type { Line } from '../model/glyphs.ts';
import { useLook } from './look.ts';

/** One line; the terminal never wraps it, so that the rows below it stay where they are. */
export const SpanLine = memo(function SpanLine({ line }: { line: Line }) {
  const { color } = useLook();
  if (line.length === 0) return <Text> </Text>;
  return (
    <Text wrap="truncate">
      {line.map((span, index) => {
        const style = { ...span, dimColor: span.dim === true, color: color ? span.color : undefined };
        // biome-ignore lint/suspicious/noArrayIndexKey: the spans of a line have no other identity than their place.
        return <Styled key={index} {...style} />;
      })}
    </Text>
  );
});

interface StyledProps {
  text: string;
  color: string | undefined;
  bold?: boolean;
  dimColor: boolean;
  inverse?: boolean;
}

function Styled({ text, color, bold = false, dimColor, inverse = false }: StyledProps) {
  return (
    <Text bold={bold} dimColor={dimColor} inverse={inverse} {...(color ? { color } : {})}>
      {text}
    </Text>
  );
}

/** The lines from `from` on, as many as fit into `height`. */
export function Lines({
  lines,
  from = 0,
  height,
}: {
  lines: readonly Line[];
  from?: number;
  height: number;
}) {
  const first = Math.max(0, Math.min(from, lines.length - height));
  return (
    <Box flexDirection="column" height={height} overflow="hidden">
      {lines.slice(first, first + height).map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is what is at its place on the screen.
        <SpanLine key={index} line={line} />
      ))}
    </Box>
  );
}
