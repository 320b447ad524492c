/**
 * The small bugs that can be planted in a source file. The syntax tree is used, so comments and types are left alone.
 */
import { ts } from '@ts-morph/common';
import { sqlMutations } from './sql.ts';

/** Replaces the text from `start` to `end` of a file. */
export interface Mutation {
  start: number;
  end: number;
  replacement: string;
  /** Where the code that it changes runs: the place itself, or the uses of a constant. */
  runsAt: number[];
}

type Edit = Pick<Mutation, 'start' | 'end' | 'replacement'>;

const { SyntaxKind } = ts;

const OPERATORS = new Map<ts.SyntaxKind, string>([
  [SyntaxKind.LessThanToken, '<='],
  [SyntaxKind.LessThanEqualsToken, '<'],
  [SyntaxKind.GreaterThanToken, '>='],
  [SyntaxKind.GreaterThanEqualsToken, '>'],
  [SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [SyntaxKind.AmpersandAmpersandToken, '||'],
  [SyntaxKind.BarBarToken, '&&'],
  [SyntaxKind.QuestionQuestionToken, '&&'],
  [SyntaxKind.PlusToken, '-'],
  [SyntaxKind.MinusToken, '+'],
  [SyntaxKind.AsteriskToken, '/'],
  [SyntaxKind.PlusEqualsToken, '-='],
  [SyntaxKind.MinusEqualsToken, '+='],
  [SyntaxKind.QuestionQuestionEqualsToken, '='],
]);

const METHODS = new Map([
  ['min', 'max'],
  ['max', 'min'],
  ['some', 'every'],
  ['every', 'some'],
  ['floor', 'ceil'],
  ['ceil', 'floor'],
]);

/** Log messages are only for people to read later: no test needs to check their wording. */
const LOGGING = /\b(?:logger|log)\.(?:trace|debug|info|warn|error|fatal)\(/i;

/** Small numbers become one larger, large ones four times as large: one millisecond more in a day is no bug. */
const SMALL = 100;

export function mutationsOf(file: string, text: string): Mutation[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Mutation[] = [];
  const visit = (node: ts.Node): void => {
    if (isIgnored(node, source)) return;
    for (const edit of [...editsOf(node, source), ...sqlMutations(node, source)]) {
      if (text.slice(edit.start, edit.end) === edit.replacement) continue;
      found.push({ ...edit, runsAt: placesOf(node, source) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function isIgnored(node: ts.Node, source: ts.SourceFile): boolean {
  if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true;
  if (ts.isImportDeclaration(node)) return true;
  return ts.isExpressionStatement(node) && LOGGING.test(node.getText(source));
}

function editsOf(node: ts.Node, source: ts.SourceFile): Edit[] {
  if (ts.isBinaryExpression(node)) return operatorEdits(node, source);
  if (ts.isIfStatement(node) || ts.isConditionalExpression(node)) return negated(conditionOf(node), source);
  if (ts.isWhileStatement(node)) return [over(node.expression, source, 'false')];
  if (ts.isPrefixUnaryExpression(node)) return unaryEdits(node, source);
  if (ts.isNumericLiteral(node)) return [over(node, source, otherNumber(node))];
  if (node.kind === SyntaxKind.TrueKeyword) return [over(node, source, 'false')];
  if (node.kind === SyntaxKind.FalseKeyword) return [over(node, source, 'true')];
  // If the value is not used, the linter notices that an `await` is missing.
  if (
    ts.isAwaitExpression(node) &&
    !ts.isExpressionStatement(node.parent) &&
    !isAnsweredAtOnce(node, source)
  ) {
    return [over(node, source, node.expression.getText(source))];
  }
  if (ts.isExpressionStatement(node)) return statementEdits(node, source);
  if (ts.isReturnStatement(node)) return returnEdits(node, source);
  if (ts.isArrowFunction(node)) return arrowEdits(node, source);
  if (ts.isPropertyAccessExpression(node)) return methodEdits(node, source);
  return [];
}

/** SQLite is synchronous: what a transaction reads or writes is there when the call returns, awaited or not. */
function isAnsweredAtOnce({ expression }: ts.AwaitExpression, source: ts.SourceFile): boolean {
  return (
    ts.isCallExpression(expression) &&
    /^(?:tx\.(?:get|all|run|insert)|getState(?:ById)?)\b/.test(expression.getText(source))
  );
}

function over(node: ts.Node, source: ts.SourceFile, replacement: string): Edit {
  return { start: node.getStart(source), end: node.getEnd(), replacement };
}

/** Equalities are not negated here, because their operator is replaced by its opposite anyway. */
function negated(condition: ts.Expression, source: ts.SourceFile): Edit[] {
  const isEquality =
    ts.isBinaryExpression(condition) &&
    [SyntaxKind.EqualsEqualsEqualsToken, SyntaxKind.ExclamationEqualsEqualsToken].includes(
      condition.operatorToken.kind,
    );
  return isEquality ? [] : [over(condition, source, `!(${condition.getText(source)})`)];
}

function conditionOf(node: ts.IfStatement | ts.ConditionalExpression): ts.Expression {
  return ts.isIfStatement(node) ? node.expression : node.condition;
}

function operatorEdits(node: ts.BinaryExpression, source: ts.SourceFile): Edit[] {
  const replacement = OPERATORS.get(node.operatorToken.kind);
  if (replacement === undefined || isTextConcatenation(node, source)) return [];
  // `&&` and `??` cannot be mixed without parentheses.
  if (replacement === '&&' && node.operatorToken.kind === SyntaxKind.QuestionQuestionToken) {
    return [over(node, source, `(${node.left.getText(source)}) && (${node.right.getText(source)})`)];
  }
  return [over(node.operatorToken, source, replacement)];
}

function isTextConcatenation(node: ts.BinaryExpression, source: ts.SourceFile): boolean {
  const isSum = [SyntaxKind.PlusToken, SyntaxKind.PlusEqualsToken].includes(node.operatorToken.kind);
  return isSum && /['"`]/.test(node.getText(source));
}

function unaryEdits(node: ts.PrefixUnaryExpression, source: ts.SourceFile): Edit[] {
  // The condition as a whole is negated already.
  const isCondition =
    (ts.isIfStatement(node.parent) || ts.isConditionalExpression(node.parent)) &&
    conditionOf(node.parent) === node;
  if (node.operator !== SyntaxKind.ExclamationToken || isCondition) return [];
  return [over(node, source, node.operand.getText(source))];
}

function otherNumber(node: ts.NumericLiteral): string {
  const value = Number(node.text);
  return String(value < SMALL ? value + 1 : value * 4);
}

/** A call whose result is not used is made for its effect: the bug is to leave it out. */
function statementEdits(node: ts.ExpressionStatement, source: ts.SourceFile): Edit[] {
  const { expression } = node;
  const call = ts.isAwaitExpression(expression) ? expression.expression : expression;
  if (!ts.isCallExpression(call) || call.expression.kind === SyntaxKind.SuperKeyword) return [];
  return [over(node, source, ';')];
}

/**
 * Returned literals are left out: true and false are swapped elsewhere, and `undefined` instead of `null` would change
 * little.
 */
function returnEdits(node: ts.ReturnStatement, source: ts.SourceFile): Edit[] {
  if (/^(?:null|undefined|true|false)?$/.test(node.expression?.getText(source) ?? '')) return [];
  return [over(node, source, 'return undefined;')];
}

function arrowEdits({ body }: ts.ArrowFunction, source: ts.SourceFile): Edit[] {
  if (ts.isBlock(body) || ts.isVoidExpression(body) || LOGGING.test(body.getText(source))) return [];
  return [over(body, source, 'undefined')];
}

function methodEdits(node: ts.PropertyAccessExpression, source: ts.SourceFile): Edit[] {
  const name = METHODS.get(node.name.text);
  if (name === undefined || !ts.isCallExpression(node.parent)) return [];
  return [over(node.name, source, name)];
}

/** The value of a top-level constant is computed at load time, in every test: what counts is where it is used. */
function placesOf(node: ts.Node, source: ts.SourceFile): number[] {
  const own = node.getStart(source);
  const constant = topConstantOf(node);
  if (!constant) return [own];
  const places: number[] = [];
  const visit = (other: ts.Node): void => {
    const isUse = ts.isIdentifier(other) && other.text === constant.text && other !== constant;
    if (isUse) places.push(other.getStart(source));
    ts.forEachChild(other, visit);
  };
  visit(source);
  return isExported(constant) ? [...places, own] : places;
}

/** The name of the top-level constant whose value `node` is a part of, unless a function is in between. */
function topConstantOf(node: ts.Node): ts.Identifier | null {
  for (let at = node; at.parent; at = at.parent) {
    if (ts.isFunctionLike(at)) return null;
    if (!ts.isVariableDeclaration(at) || !ts.isSourceFile(at.parent.parent.parent)) continue;
    return ts.isIdentifier(at.name) ? at.name : null;
  }
  return null;
}

function isExported(name: ts.Identifier): boolean {
  const statement = name.parent.parent.parent;
  return ts.isVariableStatement(statement) && (statement.modifiers ?? []).length > 0;
}
