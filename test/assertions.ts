/** Finds tests that assert nothing, directly or in functions that they call, in their syntax trees. */
import { dirname, join } from 'node:path';
import { ts } from '@ts-morph/common';

/** The files of the tests by their paths. */
export type Sources = ReadonlyMap<string, ts.SourceFile>;

/** A function, and the path of its file. */
interface Known {
  file: string;
  node: ts.Node;
}

/** Assertions that a fixture makes when it is closed do not count for the test. */
const ENDING = new Set(['close', 'end', 'stop', 'dispose', 'remove']);

/** The tests that assert nothing, each as `file:line name`. */
export function idleTestsIn(sources: Sources): string[] {
  const asserts = assertionsIn(sources);
  return [...sources].flatMap(([file, source]) =>
    testsIn(source)
      .filter(({ body }) => !asserts({ file, node: body }))
      .map(({ name, node }) => `${placeOf(file, node)} ${name}`),
  );
}

/** The places where a test returns before its end, as `file:line`: assertions after that may never run. */
export function earlyReturnsIn(sources: Sources): string[] {
  return [...sources].flatMap(([file, source]) =>
    testsIn(source)
      .flatMap(({ body }) => nodesIn(body).filter((node) => functionAround(node) === body))
      .filter((node) => ts.isReturnStatement(node) && !ts.isFunctionLike(node.parent.parent))
      .map((node) => placeOf(file, node)),
  );
}

/** The assertions on how long something took, as `file:line`: a busy machine makes them fail. */
export function timedAssertionsIn(sources: Sources): string[] {
  return [...sources].flatMap(([file, source]) => {
    const nodes = nodesIn(source);
    const lengths = new Set(
      nodes
        .filter((node) => ts.isVariableDeclaration(node))
        .filter(({ initializer }) => isLength(initializer))
        .map(({ name }) => name.getText()),
    );
    const isCompared = (node: ts.Node) =>
      ts.isBinaryExpression(node) &&
      COMPARING.includes(node.operatorToken.kind) &&
      [node.left, node.right].some((side) => isLength(side) || lengths.has(side.getText()));
    return nodes
      .filter((node) => ts.isCallExpression(node) && /^assert\b/.test(node.expression.getText()))
      .filter((node) => nodesIn(node).some(isCompared))
      .map((node) => placeOf(file, node));
  });
}

const COMPARING = [ts.SyntaxKind.LessThanToken, ts.SyntaxKind.LessThanEqualsToken];

/** `Date.now() - begun`. */
function isLength(node: ts.Expression | undefined): boolean {
  if (!node || !ts.isBinaryExpression(node)) return false;
  return (
    node.operatorToken.kind === ts.SyntaxKind.MinusToken &&
    /^(?:performance|Date)\.now\(\)$/.test(node.left.getText())
  );
}

export function placeOf(file: string, node: ts.Node): string {
  return `${file}:${node.getSourceFile().getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}

export function nodesIn(root: ts.Node): ts.Node[] {
  const found: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    found.push(node);
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(root, visit);
  return found;
}

export function functionAround(node: ts.Node): ts.Node | undefined {
  for (let one = node.parent; one; one = one.parent) if (ts.isFunctionLike(one)) return one;
  return undefined;
}

/** Statements of the form `test('it works', () => …)`, for any name of the suite. */
function testsIn(source: ts.SourceFile): { name: string; node: ts.Node; body: ts.Node }[] {
  const ofNode = importsIn('', source);
  return nodesIn(source).flatMap((node) => {
    if (!ts.isExpressionStatement(node) || !ts.isCallExpression(node.expression)) return [];
    const { expression: suite, arguments: given } = node.expression;
    const [name, body] = [given[0], given.at(-1)];
    if (ts.isPropertyAccessExpression(suite) || !name || !body || !ts.isFunctionLike(body)) return [];
    const isNamed = ts.isStringLiteralLike(name) || ts.isTemplateExpression(name);
    return isNamed && !ofNode.get(suite.getText())?.file.startsWith('node:')
      ? [{ name: name.getText(), node, body }]
      : [];
  });
}

/** @returns whether a function asserts something, directly or through a function that it mentions */
function assertionsIn(sources: Sources): (known: Known) => boolean {
  const functions = new Map([...sources].map(([file, source]) => [file, functionsIn(source)]));
  const imports = new Map([...sources].map(([file, source]) => [file, importsIn(file, source)]));
  const methods = methodsIn(sources);
  const certain = new Set<ts.Node>();
  const meant = (file: string, node: ts.Identifier): readonly Known[] => {
    if (ts.isPropertyAccessExpression(node.parent) && node.parent.name === node) {
      return ENDING.has(node.text) ? [] : (methods.get(node.text) ?? []);
    }
    const own = functions.get(file)?.get(node.text);
    if (own) return [{ file, node: own }];
    const from = imports.get(file)?.get(node.text);
    const other = from && functions.get(from.file)?.get(from.name);
    return other ? [{ file: from.file, node: other }] : [];
  };
  const look = ({ file, node }: Known, seen: Set<ts.Node>): boolean => {
    if (certain.has(node)) return true;
    if (seen.has(node)) return false;
    seen.add(node);
    const names = nodesIn(node).filter((one) => ts.isIdentifier(one));
    const isFound =
      names.some(({ text }) => text === 'assert') ||
      names.some((one) => meant(file, one).some((other) => look(other, seen)));
    if (isFound) certain.add(node);
    return isFound;
  };
  return (known) => look(known, new Set());
}

/** Functions by name, including nested ones. */
function functionsIn(source: ts.SourceFile): Map<string, ts.Node> {
  const found = new Map<string, ts.Node>();
  for (const node of nodesIn(source)) {
    if (ts.isFunctionDeclaration(node) && node.name) found.set(node.name.text, node);
    if (ts.isVariableDeclaration(node) && node.initializer && ts.isFunctionLike(node.initializer)) {
      found.set(node.name.getText(), node.initializer);
    }
  }
  return found;
}

function methodsIn(sources: Sources): Map<string, Known[]> {
  const found = new Map<string, Known[]>();
  const add = (name: string, known: Known) => found.set(name, [...(found.get(name) ?? []), known]);
  for (const [file, source] of sources) {
    for (const node of nodesIn(source)) {
      if (ts.isMethodDeclaration(node)) add(node.name.getText(), { file, node });
      if (ts.isPropertyAssignment(node) && ts.isFunctionLike(node.initializer)) {
        add(node.name.getText(), { file, node: node.initializer });
      }
    }
  }
  return found;
}

function importsIn(file: string, source: ts.SourceFile): Map<string, { file: string; name: string }> {
  const found = new Map<string, { file: string; name: string }>();
  for (const node of source.statements) {
    if (!ts.isImportDeclaration(node) || !ts.isStringLiteral(node.moduleSpecifier)) continue;
    const { namedBindings } = node.importClause ?? {};
    if (!namedBindings || !ts.isNamedImports(namedBindings)) continue;
    const from = join(dirname(file), node.moduleSpecifier.text);
    for (const { name, propertyName } of namedBindings.elements) {
      found.set(name.text, { file: from, name: (propertyName ?? name).text });
    }
  }
  return found;
}
