// SPDX-License-Identifier: MIT
//
// The library that reads TeX, a file of its own: the page loads it when there is math to show, and an
// exported page has it where it contains math (web/math.tsx).
import temml from "temml";

window.retakeMath = (tex, isDisplay) => temml.__renderToMathMLTree(tex, { displayMode: isDisplay, throwOnError: true, trust: false, maxExpand: 300, maxSize: [20, 100] });
dispatchEvent(new Event("retake-math"));
