import { useMemo } from 'react';
import { alertScreenLines } from '../model/alert-lines.ts';
import { detailLines } from '../model/detail-lines.ts';
import type { FormOverlay } from '../model/form.ts';
import { formLines } from '../model/form-lines.ts';
import { layoutOf, listHeight } from '../model/layout.ts';
import { helpLines, serverLines } from '../model/prompt-lines.ts';
import type { AlertsScreen, Screen, State } from '../model/state.ts';
import { Lines } from './lines.tsx';
import { useLook } from './look.ts';
import { Table } from './table.tsx';

/** What is between the header and the footer. */
export function Body({ state }: { state: State }) {
  const { overlay, screen } = state;
  if (overlay?.kind === 'form') return <Form state={state} form={overlay} />;
  if (overlay?.kind === 'servers') return <Servers state={state} cursor={overlay.cursor} />;
  if (overlay?.kind === 'help') return <Help state={state} scroll={overlay.scroll} />;
  if (screen.kind === 'detail') return <Detail state={state} screen={screen} />;
  if (screen.kind === 'alerts') return <Alerts state={state} screen={screen} />;
  return <Table state={state} />;
}

function Form({ state, form }: { state: State; form: FormOverlay }) {
  const { glyphs } = useLook();
  const { columns: width } = state.size;
  const { bodyHeight: height } = layoutOf(state);
  return <Lines lines={formLines(form, { width, height, glyphs })} width={width} height={height} />;
}

function Help({ state, scroll }: { state: State; scroll: number }) {
  const { glyphs } = useLook();
  return (
    <Lines
      lines={helpLines(state, glyphs)}
      from={scroll}
      width={state.size.columns}
      height={layoutOf(state).bodyHeight}
    />
  );
}

function Servers({ state, cursor }: { state: State; cursor: number }) {
  const { glyphs } = useLook();
  const { bodyHeight: height } = layoutOf(state);
  const lines = serverLines(state, cursor, height, glyphs);
  return <Lines lines={lines} width={state.size.columns} height={height} />;
}

function Detail({ state, screen }: { state: State; screen: Extract<Screen, { kind: 'detail' }> }) {
  const { glyphs } = useLook();
  const { columns: width } = state.size;
  const { token, detail, error, scroll } = screen;
  const { now } = state;
  const entry = state.collection.entries.get(token);
  const lines = useMemo(
    () => (entry ? detailLines(entry, { detail, error }, { width, glyphs, now }) : []),
    [entry, detail, error, width, glyphs, now],
  );
  return <Lines lines={lines} from={scroll} width={state.size.columns} height={layoutOf(state).bodyHeight} />;
}

function Alerts({ state, screen }: { state: State; screen: AlertsScreen }) {
  const { glyphs } = useLook();
  const lines = alertScreenLines(screen, {
    width: state.size.columns,
    height: listHeight(state),
    glyphs,
    now: state.now,
  });
  return <Lines lines={lines} width={state.size.columns} height={layoutOf(state).bodyHeight} />;
}
