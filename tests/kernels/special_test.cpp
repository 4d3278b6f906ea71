// Special functions against arbitrary-precision arithmetic (mpmath, 40 digits).
#include "portable/elementwise/special_functions.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

namespace {

using namespace backplane::portable;

struct One {
  const char* name;
  double (*function)(double);
  double x, value;
};
struct Two {
  const char* name;
  double (*function)(double, double);
  double x, y, value;
};

TEST_SUITE("plugins/portable") {
  TEST_CASE("functions of one number are right to twelve digits") {
    const One cases[] = {
        {"digamma", digamma, 0.1, -10.423754940411076},
        {"digamma", digamma, 1.4616, -3.110625123034165e-5},
        {"digamma", digamma, 3.7, 1.1671535393615114},
        {"digamma", digamma, 25.5, 3.2189424728839198},
        {"digamma", digamma, -0.7, -2.0739527936287038},
        {"digamma", digamma, -11.3, 4.7508990688033259},
        {"log_gamma", log_gamma, 0.1, 2.2527126517342059},
        {"log_gamma", log_gamma, 2.5, 0.28468287047291916},
        {"log_gamma", log_gamma, 30.25, 72.104204742008},
        {"log_gamma", log_gamma, -1.5, 0.86004701537648101},
        {"erfinv", erfinv, 1e-09, 8.8622692545275807e-10},
        {"erfinv", erfinv, 0.3, 0.27246271472675435},
        {"erfinv", erfinv, -0.5, -0.47693627620446987},
        {"erfinv", erfinv, 0.9, 1.1630871536766742},
        {"erfinv", erfinv, 0.999999, 3.4589107372754988},
        {"erfcx", erfcx, -2.5, 1035.8148429726229},
        {"erfcx", erfcx, 0.5, 0.61569034419292587},
        {"erfcx", erfcx, 2.9, 0.18460182595559082},
        {"erfcx", erfcx, 3.1, 0.17371840860540824},
        {"erfcx", erfcx, 10.0, 0.056140992743822586},
        {"erfcx", erfcx, 1000000.0, 5.6418958354747419e-7},
        {"normal_cdf", normal_cdf, -8.0, 6.2209605742717841e-16},
        {"normal_cdf", normal_cdf, -1.0, 0.15865525393145705},
        {"normal_cdf", normal_cdf, 0.5, 0.6914624612740131},
        {"log_normal_cdf", log_normal_cdf, -30.0, -454.3212439563432},
        {"log_normal_cdf", log_normal_cdf, -2.0, -3.7831843336820319},
        {"log_normal_cdf", log_normal_cdf, 0.5, -0.36894641528865639},
        {"log_normal_cdf", log_normal_cdf, 3.0, -0.0013508099647481938},
        {"normal_quantile", normal_quantile, 1e-20, -9.2623400897984076},
        {"normal_quantile", normal_quantile, 0.001, -3.0902323061678135},
        {"normal_quantile", normal_quantile, 0.0999, -1.2821215797087745},
        {"normal_quantile", normal_quantile, 0.3, -0.52440051270804082},
        {"normal_quantile", normal_quantile, 0.9, 1.2815515655446006},
        {"bessel_j0", bessel_j0, 0.5, 0.9384698072408129},
        {"bessel_j0", bessel_j0, 3.3, -0.3442962603988846},
        {"bessel_j0", bessel_j0, 17.0, -0.16985425215118355},
        {"bessel_j0", bessel_j0, 100.5, 0.054436573814413591},
        {"bessel_j1", bessel_j1, 0.5, 0.24226845767487389},
        {"bessel_j1", bessel_j1, 3.3, 0.22066345298524116},
        {"bessel_j1", bessel_j1, 17.0, -0.09766849275778065},
        {"bessel_j1", bessel_j1, 100.5, -0.057791123996932021},
        {"bessel_y0", bessel_y0, 0.5, -0.44451873350670656},
        {"bessel_y0", bessel_y0, 3.3, 0.26909199505453384},
        {"bessel_y0", bessel_y0, 17.0, -0.092637198442323693},
        {"bessel_y1", bessel_y1, 0.5, -1.4714723926702431},
        {"bessel_y1", bessel_y1, 3.3, 0.38785293102370989},
        {"bessel_y1", bessel_y1, 17.0, 0.16720503607723369},
        {"bessel_i0", bessel_i0, 0.001, 1.0000002500000156},
        {"bessel_i0", bessel_i0, 2.5, 3.289839144050123},
        {"bessel_i0", bessel_i0, 29.5, 478144163888.0398},
        {"bessel_i0", bessel_i0, 30.5, 1278062138712.5665},
        {"bessel_i0", bessel_i0, 200.0, 2.0396871734097246e+85},
        {"bessel_i1", bessel_i1, 0.001, 0.00050000006250000261},
        {"bessel_i1", bessel_i1, 2.5, 2.5167162452886984},
        {"bessel_i1", bessel_i1, 29.5, 469968885416.2773},
        {"bessel_i1", bessel_i1, 30.5, 1256932623308.4715},
        {"bessel_i1", bessel_i1, 200.0, 2.0345815493320627e+85},
        {"bessel_k0e", bessel_k0e, 1e-06, 13.931456005075459},
        {"bessel_k0e", bessel_k0e, 0.1, 2.6823261022628943},
        {"bessel_k0e", bessel_k0e, 2.0, 0.84156821507077142},
        {"bessel_k0e", bessel_k0e, 50.0, 0.17680715585742934},
        {"bessel_k0e", bessel_k0e, 100000.0, 0.0039633223434747559},
        {"bessel_k1e", bessel_k1e, 1e-06, 1000000.9999932843},
        {"bessel_k1e", bessel_k1e, 0.1, 10.890182683049696},
        {"bessel_k1e", bessel_k1e, 2.0, 1.0334768470686886},
        {"bessel_k1e", bessel_k1e, 50.0, 0.17856655855881557},
        {"bessel_k1e", bessel_k1e, 100000.0, 0.0039633421600369322},
        {"airy_ai", airy_ai, -30.0, -0.087968188456842163},
        {"airy_ai", airy_ai, -12.5, -0.27627456138116025},
        {"airy_ai", airy_ai, -11.5, 0.30542297004359266},
        {"airy_ai", airy_ai, -5.0, 0.35076100902411432},
        {"airy_ai", airy_ai, -0.5, 0.47572809161053959},
        {"airy_ai", airy_ai, 0.0, 0.35502805388781724},
        {"airy_ai", airy_ai, 1.9, 0.040594420031529502},
        {"airy_ai", airy_ai, 2.1, 0.029952602115866522},
        {"airy_ai", airy_ai, 10.0, 1.1047532552898686e-10},
    };
    for (const One& c : cases) {
      INFO(std::string(c.name), " of ", c.x, " is ", c.function(c.x), ", expected ", c.value);
      CHECK(std::fabs(c.function(c.x) - c.value) <= 1e-12 * std::fabs(c.value));
    }
  }

  TEST_CASE("functions of two numbers are right to eleven digits") {
    const Two cases[] = {
        {"hurwitz_zeta", hurwitz_zeta, 2.0, 0.5, 4.9348022005446793},
        {"hurwitz_zeta", hurwitz_zeta, 1.1, 3.0, 9.1179319691823973},
        {"hurwitz_zeta", hurwitz_zeta, 20.0, 0.3, 28679719907.929696},
        {"hurwitz_zeta", hurwitz_zeta, 3.0, -1.5, 0.1181020258208637},
        {"polygamma", polygamma, 1.0, 0.3, 12.245364546107731},
        {"polygamma", polygamma, 3.0, 20.5, 0.00024968818108537709},
        {"polygamma", polygamma, 2.0, -1.3, 68.549413471162134},
        {"gamma_lower", gamma_lower, 0.5, 0.1, 0.34527915398142298},
        {"gamma_upper", gamma_upper, 0.5, 0.1, 0.65472084601857702},
        {"gamma_lower", gamma_lower, 3.0, 10.0, 0.99723060428448842},
        {"gamma_upper", gamma_upper, 3.0, 10.0, 0.0027693957155115759},
        {"gamma_lower", gamma_lower, 150.0, 140.0, 0.20954362391860707},
        {"gamma_upper", gamma_upper, 150.0, 140.0, 0.79045637608139293},
        {"gamma_lower", gamma_lower, 150.0, 165.0, 0.88746349040198842},
        {"gamma_upper", gamma_upper, 150.0, 165.0, 0.11253650959801158},
        {"gamma_lower", gamma_lower, 2000.0, 2010.0, 0.59122052833813181},
        {"gamma_upper", gamma_upper, 2000.0, 2010.0, 0.40877947166186819},
    };
    for (const Two& c : cases) {
      INFO(std::string(c.name), " of ", c.x, ", ", c.y, " is ", c.function(c.x, c.y), ", expected ",
           c.value);
      CHECK(std::fabs(c.function(c.x, c.y) - c.value) <= 1e-11 * std::fabs(c.value));
    }
  }
}

}  // namespace
