/**
 * What a function of the tests opens and closes again, but not where it fails in between: found in its syntax tree.
 * It must be closed in a `finally`, be declared with `using`, or belong to somebody who closes it: the context of the
 * suite, or a list that a hook goes through.
 */
import { ts } from '@ts-morph/common';
import { functionAround, nodesIn, placeOf, type Sources } from './assertions.ts';

/** What ends the thing that it is called on. */
const METHODS = new Set([
  'close',
  'end',
  'stop',
  'kill',
  'dispose',
  'destroy',
  'terminate',
  'remove',
  'free',
]);

/** What ends the thing that it is given. */
const FUNCTIONS = new Set(['close', 'closeSync', 'kill', 'removeDataDir', 'rmSync', 'stop']);

/** Functions that call what they are given then and there. */
const HERE = new Set(['forEach', 'map', 'then']);

/** A single file goes with the directory that it is in. */
const MAKES_DIRECTORY = /mkdtemp|temporaryDirectory|newDataDir/;

/** Each as `file:line name`. */
export function leftOpenIn(sources: Sources): string[] {
  return [...sources].flatMap(([file, source]) =>
    nodesIn(source)
      .filter((node) => ts.isVariableDeclaration(node))
      .filter(opens)
      .flatMap((declaration) => namesOf(declaration.name).filter((name) => isLeftOpen(name, declaration)))
      .map((name) => `${placeOf(file, name)} ${name.text}`),
  );
}

function opens({ initializer, parent }: ts.VariableDeclaration): boolean {
  const closesItself = (parent.flags & ts.NodeFlags.Using) === ts.NodeFlags.Using;
  return initializer !== undefined && !closesItself && isOpened(initializer);
}

/** Whether this expression opens something that nobody else closes. */
function isOpened(expression: ts.Expression): boolean {
  const made = withoutDetours(expression);
  if (ts.isNewExpression(made)) return true;
  if (!ts.isCallExpression(made)) return false;
  const called = withoutDetours(made.expression);
  if (ts.isIdentifier(called)) {
    const opener = functionsIn(called.getSourceFile()).get(called.text);
    return !opener || !isKept(opener);
  }
  // What `outbox.deliverer()` starts, the outbox ends; `Outbox.open()` and `createServer().listen()` are of nobody.
  const owner = ownerOf(called);
  return ts.isIdentifier(owner) ? importedIn(owner.getSourceFile()).has(owner.text) : isOpened(owner);
}

function withoutDetours(expression: ts.Expression): ts.Expression {
  let made = expression;
  for (;;) {
    if (ts.isAwaitExpression(made) || ts.isAsExpression(made)) made = made.expression;
    else if (ts.isParenthesizedExpression(made) || ts.isNonNullExpression(made)) made = made.expression;
    else return made;
  }
}

function ownerOf(called: ts.Expression): ts.Expression {
  let owner = called;
  while (ts.isPropertyAccessExpression(owner)) owner = withoutDetours(owner.expression);
  return owner;
}

/** Whether the function gives what it opens to a list, or has it opened by somebody who closes it. */
function isKept(opener: ts.Node): boolean {
  const nodes = nodesIn(opener);
  const own = new Set(
    nodes.filter((node) => ts.isVariableDeclaration(node)).map(({ name }) => name.getText()),
  );
  return nodes.some((node) => {
    if (ts.isReturnStatement(node) && node.expression) {
      const given = withoutDetours(node.expression);
      return ts.isCallExpression(given) && !isOpened(given);
    }
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
    return (
      ['push', 'add'].includes(node.expression.name.text) &&
      node.arguments.some((argument) => own.has(ownerOf(argument).getText()))
    );
  });
}

/** The functions of a file by their names. */
function functionsIn(source: ts.SourceFile): Map<string, ts.Node> {
  const found = new Map<string, ts.Node>();
  for (const statement of source.statements) {
    if (ts.isFunctionDeclaration(statement) && statement.name) found.set(statement.name.text, statement);
    if (!ts.isVariableStatement(statement)) continue;
    for (const { name, initializer } of statement.declarationList.declarations) {
      if (initializer && ts.isArrowFunction(initializer)) found.set(name.getText(), initializer);
    }
  }
  return found;
}

function importedIn(source: ts.SourceFile): Set<string> {
  const clauses = source.statements.flatMap((one) => (ts.isImportDeclaration(one) ? [one.importClause] : []));
  return new Set(clauses.flatMap((clause) => clause?.getText().match(/\w+/g) ?? []));
}

function namesOf(name: ts.BindingName): ts.Identifier[] {
  if (ts.isIdentifier(name)) return [name];
  return name.elements.flatMap((one) => (ts.isBindingElement(one) ? namesOf(one.name) : []));
}

function isLeftOpen(name: ts.Identifier, declaration: ts.VariableDeclaration): boolean {
  const home = functionAround(name);
  if (!home) return false;
  const makesDirectory = MAKES_DIRECTORY.test(declaration.initializer?.getText() ?? '');
  const ends = nodesIn(home)
    .filter((node) => ts.isIdentifier(node))
    .filter((node) => node !== name && node.text === name.text && isVariable(node))
    .flatMap((node) => endOf(node, makesDirectory) ?? []);
  return ends.length > 0 && !ends.some((end) => isSure(end, home) || isNext(end, declaration));
}

/** Not the name of a property: `options.server`, `{ server: 1 }`. */
function isVariable(node: ts.Identifier): boolean {
  const { parent } = node;
  const isProperty = ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent);
  return !(isProperty && parent.name === node);
}

/** The call that closes what this name refers to, if it is one. */
function endOf(node: ts.Identifier, isDirectory: boolean): ts.CallExpression | null {
  let top: ts.Node = node;
  while (ts.isPropertyAccessExpression(top.parent)) top = top.parent;
  const { parent } = top;
  if (!ts.isCallExpression(parent)) return null;
  if (parent.expression === top) {
    const called = ts.isPropertyAccessExpression(top) ? top.name.text : node.text;
    // `socket.end()` says that nothing more is sent; what takes a while to end is waited for.
    const ends = called === 'end' ? ts.isAwaitExpression(parent.parent) : METHODS.has(called);
    return ends ? parent : null;
  }
  const called = nameOf(parent.expression);
  // What has a number and no object is a process of somebody else.
  if (parent.expression.getText() === 'process.kill') return null;
  return FUNCTIONS.has(called) && (called !== 'rmSync' || isDirectory) ? parent : null;
}

function nameOf(called: ts.Expression): string {
  return ts.isPropertyAccessExpression(called) ? called.name.text : called.getText();
}

/** In a `finally`, or in a function that somebody else calls. */
function isSure(end: ts.Node, home: ts.Node): boolean {
  for (let one = end; one !== home; one = one.parent) {
    if (ts.isFunctionLike(one) && !isCalledHere(one)) return true;
    if (ts.isTryStatement(one.parent) && one.parent.finallyBlock === one) return true;
  }
  return false;
}

/** `await new Promise((resolve) => server.close(resolve))` and the like. */
function isCalledHere({ parent }: ts.Node): boolean {
  if (ts.isNewExpression(parent)) return parent.expression.getText() === 'Promise';
  return ts.isCallExpression(parent) && HERE.has(nameOf(parent.expression));
}

/** At once: nothing can fail in between. */
function isNext(end: ts.Node, declaration: ts.VariableDeclaration): boolean {
  const statement = declaration.parent.parent;
  if (!ts.isVariableStatement(statement) || !ts.isBlock(statement.parent)) return false;
  const { statements } = statement.parent;
  const next = statements[statements.indexOf(statement) + 1];
  return next !== undefined && ts.isExpressionStatement(next) && next.pos <= end.pos && end.end <= next.end;
}
