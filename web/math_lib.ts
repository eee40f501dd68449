// SPDX-License-Identifier: MIT
//
// The TeX library as a separate file: the page loads it when there is math to show, and an exported
// page contains it if it contains math (web/math.tsx).
import temml from "temml";

window.retakeMath = (tex, isDisplay) => temml.__renderToMathMLTree(tex, { displayMode: isDisplay, throwOnError: true, trust: false, maxExpand: 300, maxSize: [20, 100] });
dispatchEvent(new Event("retake-math"));
