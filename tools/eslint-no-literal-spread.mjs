/**
 * A rule of ESLint: `{ ...{ a, b }, c }` is `{ a, b, c }`, and `[...[a, b], c]` is `[a, b, c]`. Such spreads only keep Prettier from
 * breaking a line. `eslint --fix` writes them plainly; `prettier --write` breaks the lines.
 */
export const noLiteralSpread = {
  meta: {
    type: 'suggestion',
    fixable: 'code',
    schema: [],
    messages: { plain: 'Write what is in the literal: spreading it only keeps Prettier from breaking the line.' },
  },
  create(context) {
    const check = (node) => {
      const { argument, parent } = node;
      const plain = argument.type === (parent.type === 'ObjectExpression' ? 'ObjectExpression' : 'ArrayExpression');
      if (plain) context.report({ node, messageId: 'plain', fix: (fixer) => unwrap(fixer, node, context.sourceCode) });
    };
    return { SpreadElement: check };
  },
};

/** Replaces a spread by what its literal holds; an empty literal goes with the comma behind it. */
function unwrap(fixer, node, sourceCode) {
  const inner = sourceCode.getText(node.argument).slice(1, -1).trim().replace(/,$/, '');
  const after = sourceCode.getTokenAfter(node);
  if (inner === '') {
    const end = after?.value === ',' ? after.range[1] : node.range[1];
    return fixer.removeRange([node.range[0], end]);
  }
  // A comment that ends the literal would swallow what follows on its line.
  const lastLine = inner.slice(inner.lastIndexOf('\n') + 1);
  return fixer.replaceText(node, lastLine.includes('//') ? `${inner}\n` : inner);
}
