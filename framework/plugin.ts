import type { WorkspaceFactory } from './contract/workspace.ts'
import type * as index from './index.ts'

/** Everything that the framework's index exports. */
export type Framework = typeof index

/**
 * What the default export of a module is to be for `--view` to load it: a function that is given the framework, and
 * returns a view or several. The framework is given and not imported, so that there is only one: the server's.
 */
export type ViewPlugin = (framework: Framework) => WorkspaceFactory | readonly WorkspaceFactory[]
