/**
 * Replaces uvu, which does not say why a hook failed: what the hook throws is printed before uvu drops it. `child.ts`
 * gives this to the test files when they import uvu.
 */
import { type Callback, exec, suite as plainSuite, test as plainTest, type Test } from 'uvu';

export { exec };

export function suite<Context>(title = '', context?: Context): Test<Context> {
  return told(plainSuite(title, context), title);
}

export const test = told(plainTest, '');

function told<Context>(made: Test<Context>, title: string): Test<Context> {
  const { before, after } = made;
  const telling = (what: string, hook: Callback<Context>): Callback<Context> => {
    return async (context) => {
      try {
        await hook(context);
      } catch (error) {
        console.error(`\nHOOK FAILED: ${what} of ${title || 'the tests'}:`, error);
        throw error;
      }
    };
  };
  made.before = Object.assign((hook: Callback<Context>) => before(telling('before', hook)), {
    // uvu reports its error itself, unless the hook after it then fails as well.
    each: (hook: Callback<Context>) => before.each(telling('before each', hook)),
  });
  made.after = Object.assign((hook: Callback<Context>) => after(telling('after', hook)), {
    each: (hook: Callback<Context>) => after.each(telling('after each', hook)),
  });
  return made;
}
