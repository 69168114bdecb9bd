import type { WorkspaceFactory } from './contract/workspace.ts'
import type * as index from './index.ts'

/** The public surface: all exports of `framework/index.ts`, which `docs/reference.md` describes. */
export type Framework = typeof index

/**
 * The type of the default export of a module for `--view`: a function that gets the framework and returns a view or
 * several. The framework is an argument, because a module that imported it would have a second copy. `options` are those of
 * the file of `--views`; empty without them.
 */
export type ViewPlugin = (
  framework: Framework,
  options: Readonly<Record<string, unknown>>,
) => WorkspaceFactory | readonly WorkspaceFactory[]
