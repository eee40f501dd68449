// SPDX-License-Identifier: MIT
//
// The parts that hang themselves into the page (panes.ts), one import for each.
export {};
