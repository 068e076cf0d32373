// Learning from rows that are dicts: a filter or a bank, a coder, and the names of the columns.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "asked_rows.hpp"
#include "bank.hpp"
#include "binding.hpp"
#include "calibration.hpp"
#include "choice.hpp"
#include "dict_coder.hpp"
#include "intervals.hpp"
#include "lock.hpp"
#include "numpy_arrays.hpp"
#include "row_digest.hpp"
#include "watch.hpp"

using namespace nanobind::literals;

namespace dfop {
namespace {

constexpr double kOnce = 1.0;

// Row by row, whatever learns: a filter with its discount, a bank, or nothing yet.
class RowEngine {
public:
    RowEngine(nb::handle owner, double discount) : discount_(discount) {
        if (nb::isinstance<Guarded<Bank>>(owner))
            bank_ = &nb::cast<Guarded<Bank>&>(owner);
        else if (!owner.is_none())
            filter_ = &nb::cast<Guarded<Filter>&>(owner);
    }

    explicit operator bool() const { return filter_ || bank_; }
    std::size_t features() const {
        return filter_ ? filter_->model.features() : bank_->model.features();
    }
    std::size_t outputs() const {
        return filter_ ? filter_->model.outputs() : bank_->model.outputs();
    }
    void predict(const double* x, double* yhat) {
        filter_ ? filter_->model.predict(x, 1, yhat) : bank_->model.predict(x, 1, yhat);
    }
    void learn(const double* x, const double* y, double* yhat) {
        if (filter_)
            filter_->model.learn(x, 1, {y, 1, 1}, {&discount_, 0}, {&kOnce, 0}, kNoWalk, yhat);
        else
            bank_->model.learn(x, 1, y, {&kOnce, 0}, {&kZero, 0}, yhat);
    }
    void add_features(std::size_t count) {
        filter_ ? filter_->model.add_features(count) : bank_->model.add_features(count);
    }

private:
    Guarded<Filter>* filter_ = nullptr;
    Guarded<Bank>* bank_ = nullptr;
    double discount_;
};

double target_of(PyObject* y) {
    double target = 0.0;
    const CellKind kind = read_cell(y, target);
    if (kind != CellKind::number || !is_usable(target)) {
        PyErr_Format(
            PyExc_ValueError,
            "y is %.60R: y must be finite and below 2**500 in magnitude, and no text or date; "
            "convert or drop it before learning (semi=True takes rows without a target)",
            y);
        throw nb::python_error();
    }
    return target;
}

class NamedRows {
public:
    NamedRows(nb::object engine, nb::object coder, nb::dict names, nb::object lock, double discount,
              std::size_t most_names)
        : engine_object(std::move(engine)), coder_object(std::move(coder)), names(std::move(names)),
          lock_object(std::move(lock)), discount(discount), most_names(most_names),
          coder_(nb::cast<Guarded<Coder>&>(coder_object)), lock_(nb::cast<Lock&>(lock_object)),
          engine_(engine_object, discount), rows_(coder_.model, this->names, most_names) {
        require(discount > 0.0 && discount <= 1.0, "discount must be in (0, 1]");
    }

    // Lets another engine learn.
    void use(nb::object engine) {
        const Held held(lock_);
        const NotNested not_nested(busy_);
        engine_ = RowEngine(engine, discount);
        engine_object = std::move(engine);
    }

    double predict_number(PyObject* row) {
        const Call call(*this, one_output());
        return predict_row(row)[0];
    }

    // Predicts the row before its target is read, then learns it.
    double step_number(PyObject* row, PyObject* y) {
        const double target = target_of(y);
        const Call call(*this, one_output());
        return learn_coded(code_row(row), &target)[0];
    }

    std::vector<double> predict_outputs(nb::handle row) {
        const Call call(*this, 0);
        return predict_row(row.ptr());
    }

    // The number of the class that the outputs stand for, of those met; a margin is the first output.
    std::size_t predict_class(nb::handle row, bool margin, std::size_t met) {
        const Call call(*this, 0);
        const std::vector<double>& outputs = predict_row(row.ptr());
        const std::size_t count = std::min(outputs.size(), met);
        if (count == 0) return 0;
        const std::size_t k = choose([&](std::size_t i) { return outputs[i]; }, count, margin);
        return std::min(k, met - 1);
    }

    nb::object step(nb::handle row, nb::handle given) {
        const std::span<const double> y =
            as_doubles(given, "targets must be a contiguous float64 array");
        require(first_unusable(y.data(), y.size()) == y.size(),
                "targets must be finite and below 2**500 in magnitude");
        const Call call(*this, y.size());
        const double* x = code_row(row.ptr());
        last_.assign(x, x + engine_.features());
        return copy_to_array(learn_coded(x, y.data()));
    }

    // The same of a number, or of a class by its number, with what the monitor of the model watches.
    // Returns nothing; alarms that rang; or, where the row has columns that the monitor does not
    // know yet, the outputs, for it to see later.
    nb::object learn_number(nb::handle row, double y, nb::handle watch, nb::handle intervals) {
        require(is_usable(y), "the target must be finite and below 2**500 in magnitude");
        auto* watched = part_of<Watch>(watch);
        auto* judge = part_of<Intervals>(intervals);
        const Call call(*this, one_output());
        const double* x = code_row(row.ptr());
        learn_coded(x, &y);
        if (!watched || !judge) return nb::none();
        if (!knows(*watched, x)) return copy_to_array(yhat_);
        const double error = y - yhat_[0];
        judge->update(&error);
        return watch_row(*watched, x, &error, 1);
    }

    nb::object learn_class(nb::handle row, std::size_t label, bool margin, nb::handle watch,
                           nb::handle calibration) {
        auto* watched = part_of<Watch>(watch);
        auto* judge = part_of<Calibration>(calibration);
        const Call call(*this, 0);
        const double* x = code_row(row.ptr());
        code_class(label, margin);
        learn_coded(x, target_.data());
        if (!watched || !judge) return nb::none();
        if (!knows(*watched, x)) return copy_to_array(yhat_);
        const std::size_t active = margin ? 1 : yhat_.size();
        const double lead = judge->classes() == 2 && active > 1 ? yhat_[1] - yhat_[0] : yhat_[0];
        if (label < judge->classes())
            judge->update(judge->scores() > 1 ? yhat_.data() : &lead, label);
        for (std::size_t o = 0; o < active; ++o) target_[o] -= yhat_[o];
        return watch_row(*watched, x, target_.data(), active);
    }

    // Codes a row without learning it, as a matrix of one row.
    nb::object code(nb::handle row, bool learn) {
        const Call call(*this, 0);
        if (learn) coder_.model.mark();
        const double* x = rows_.code(row.ptr(), learn);
        const npy_intp shape[] = {1, static_cast<npy_intp>(coder_.model.width())};
        nb::object out = new_array(2, shape);
        std::copy_n(x, coder_.model.width(), data_of(out));
        return out;
    }

    // The row of the last step as it was coded, as a matrix of one row.
    nb::object last_row() const {
        const npy_intp shape[] = {1, static_cast<npy_intp>(last_.size())};
        nb::object out = new_array(2, shape);
        std::copy(last_.begin(), last_.end(), data_of(out));
        return out;
    }

    // Remembers a row that was predicted just now, and by which method.
    void ask(nb::handle row, AskedRows& asked, std::uint32_t method) {
        const Call call(*this, 0);
        asked.add(digest_of_row(row.ptr()), rows_.last(), coder_.model.width(), method);
    }

    // By what a row that is learned now is found among those of which something was put down;
    // nothing if it was predicted just now, and is not late. One that cannot be learned is refused.
    nb::object learns(nb::handle row, AskedRows& asked) {
        const Call call(*this, 0);
        rows_.code(row.ptr(), false);
        const std::uint64_t digest = digest_of_row(row.ptr());
        return asked.take_last(digest) ? nb::none() : nb::cast(digest);
    }

    void rollback() {
        const Call call(*this, 0);
        rows_.rollback();
    }

    void set_lags(nb::handle values) {
        const Held held(lock_);
        std::vector<double> lags;
        if (!values.is_none()) {
            const auto given = as_doubles(values, "lags must be a contiguous float64 array");
            require(given.size() == coder_.model.lags().size(), "one value per lag is needed");
            require(first_unusable(given.data(), given.size()) == given.size(),
                    "lags must be finite and below 2**500 in magnitude");
            lags.assign(given.begin(), given.end());
        }
        rows_.lags = std::move(lags);
    }

    nb::object lags() const { return rows_.lags.empty() ? nb::none() : copy_to_array(rows_.lags); }
    bool shares_names() const { return rows_.shares_names(); }

    // Once, when names beyond the bound have come; below 0 where warnings are errors.
    int warn_of_names() {
        if (warned_ || !rows_.shares_names()) return 0;
        warned_ = true;
        return PyErr_WarnFormat(
            PyExc_UserWarning, 1,
            "more than max_features=%zu feature names have come: further ones share 32 weights by "
            "their hash; raise max_features if they are meant",
            most_names);
    }

    nb::object engine_object, coder_object;  // kept alive
    nb::dict names;
    nb::object lock_object;
    double discount;
    std::size_t most_names;

private:
    // Values of a row may run Python code of their own, which must not come back here.
    struct NotNested {
        bool& busy;
        explicit NotNested(bool& flag) : busy(flag) {
            if (busy) throw std::runtime_error("a value of a row calls the model that reads it");
            busy = true;
        }
        ~NotNested() { busy = false; }
    };

    // From its first look at the coder to its last at the engine, a call is alone: whoever calls
    // them holds the same lock.
    struct Call {
        Held held;
        NotNested not_nested;

        Call(NamedRows& rows, std::size_t outputs) : held(rows.lock_), not_nested(rows.busy_) {
            if (outputs > 0)
                require(rows.needed_engine().outputs() == outputs,
                        "one target per output is needed");
        }
    };

    static constexpr std::size_t one_output() { return 1; }

    RowEngine& needed_engine() {
        require(static_cast<bool>(engine_), "there is no engine yet");
        return engine_;
    }

    void check_width() const {
        require(engine_.features() <= coder_.model.width(), "the coder does not fit the engine");
    }

    const double* code_row(PyObject* row) {
        needed_engine();
        check_width();
        const double* x = rows_.code(row, true);
        coder_.model.commit();
        if (const std::size_t width = coder_.model.width(); width > engine_.features())
            engine_.add_features(width - engine_.features());
        return x;
    }

    const std::vector<double>& learn_coded(const double* x, const double* y) {
        yhat_.resize(engine_.outputs());
        engine_.learn(x, y, yhat_.data());
        return yhat_;
    }

    // A part of the model's monitor, if it has one.
    template <class Part>
    static Part* part_of(nb::handle part) {
        return part.is_none() ? nullptr : &nb::cast<Part&>(part);
    }

    // A margin is -1 and 1 for the first two classes; behind it, or alone, an output per class.
    void code_class(std::size_t label, bool margin) {
        target_.assign(engine_.outputs(), 0.0);
        if (margin && label < 2) target_[0] = label == 0 ? -1.0 : 1.0;
        if (label + margin < target_.size()) target_[label + margin] = 1.0;
    }

    // Whether a monitor has seen all columns; if not, the row is kept for it.
    bool knows(const Watch& watch, const double* x) {
        const bool known = watch.features() == engine_.features();
        if (!known) last_.assign(x, x + engine_.features());
        return known;
    }

    // Shows a row and its error to the watch. An alarm: which of the two made it ring, the row or its
    // target, how many rows ago the change began, its kind, and the columns that changed.
    nb::object watch_row(Watch& watch, const double* x, const double* error, std::size_t count) {
        const bool inputs = watch.arrive(x, yhat_.data());
        const Alarm::Result result = watch.judge(x, yhat_.data(), error, count);
        if (!inputs && result.ring == Ring::none) return nb::none();
        nb::list rang;
        if (inputs)
            rang.append(nb::make_tuple(0, InputAlarm::kRows, "inputs", watch.inputs().rang()));
        if (result.ring != Ring::none)
            rang.append(nb::make_tuple(1, result.rows,
                                       result.ring == Ring::jump ? "jump" : "errors", nb::list()));
        return rang;
    }

    // Coded columns that the engine has not learned yet count as 0.
    const std::vector<double>& predict_row(PyObject* row) {
        const double* x = rows_.code(row, false);
        yhat_.resize(engine_ ? engine_.outputs() : 0);
        if (engine_) {
            check_width();
            engine_.predict(x, yhat_.data());
        }
        return yhat_;
    }

    Guarded<Coder>& coder_;
    Lock& lock_;
    RowEngine engine_;
    DictCoder rows_;
    std::vector<double> yhat_, last_, target_;
    bool busy_ = false, warned_ = false;
};

// -- builtin functions: River looks at signatures, and every nanosecond counts ----------------

// Arguments by position or by name, as many as there are names; false with an error set.
template <std::size_t count>
bool read_arguments(const char* const (&names)[count], PyObject* const* args, Py_ssize_t given,
                    PyObject* keywords, PyObject* (&out)[count]) {
    const Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
    if (given + named != static_cast<Py_ssize_t>(count)) {
        PyErr_Format(PyExc_TypeError, "expected %zu arguments, got %zd", count, given + named);
        return false;
    }
    std::fill_n(out, count, nullptr);
    std::copy_n(args, given, out);
    for (Py_ssize_t i = 0; i < named; ++i) {
        PyObject* keyword = PyTuple_GET_ITEM(keywords, i);
        std::size_t at = 0;
        while (at < count && PyUnicode_CompareWithASCIIString(keyword, names[at]) != 0) ++at;
        if (at == count || out[at]) {
            PyErr_Format(PyExc_TypeError, "unexpected argument %R", keyword);
            return false;
        }
        out[at] = args[given + i];
    }
    return true;
}

// Exceptions as Python has them.
template <class Work>
PyObject* translated(const Work& work) {
    try {
        return work();
    } catch (nb::python_error& error) {
        error.restore();
    } catch (const nb::builtin_exception& error) {
        PyErr_SetString(
            error.type() == nb::exception_type::type_error ? PyExc_TypeError : PyExc_ValueError,
            error.what());
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
    }
    return nullptr;
}

PyObject* learn_one(PyObject* self, PyObject* const* args, Py_ssize_t given, PyObject* keywords) {
    static constexpr const char* names[] = {"x", "y"};
    PyObject* found[2];
    if (!read_arguments(names, args, given, keywords, found)) return nullptr;
    return translated([&]() -> PyObject* {
        auto* rows = nb::inst_ptr<NamedRows>(self);
        rows->step_number(found[0], found[1]);
        if (rows->warn_of_names() < 0) return nullptr;
        Py_RETURN_NONE;
    });
}

PyObject* predict_one(PyObject* self, PyObject* const* args, Py_ssize_t given, PyObject* keywords) {
    static constexpr const char* names[] = {"x"};
    PyObject* found[1];
    if (!read_arguments(names, args, given, keywords, found)) return nullptr;
    return translated([&] {
        return PyFloat_FromDouble(nb::inst_ptr<NamedRows>(self)->predict_number(found[0]));
    });
}

PyMethodDef learn_one_method = {
    "learn_one", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&learn_one)),
    METH_FASTCALL | METH_KEYWORDS,
    "learn_one(x, y)\n--\n\n"
    "Learn one row.\n\n"
    "Parameters\n----------\n"
    "x\n    Features by name: numbers, text, or None where missing.\n"
    "y\n    The target.\n"};

PyMethodDef predict_one_method = {
    "predict_one", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&predict_one)),
    METH_FASTCALL | METH_KEYWORDS,
    "predict_one(x)\n--\n\n"
    "Predict one row.\n\n"
    "Parameters\n----------\n"
    "x\n    Features by name: numbers, text, or None where missing.\n\n"
    "Returns\n-------\n"
    "The prediction.\n"};

nb::object bound(PyMethodDef& method, nb::handle self) {
    PyObject* function = PyCFunction_New(&method, self.ptr());
    if (!function) throw nb::python_error();
    return nb::steal(function);
}

// By what they are known again, and as they were coded.
nb::tuple asked_rows(const AskedRows& asked) {
    nb::list digests;
    for (std::size_t t = 0; t < asked.size(); ++t) digests.append(asked.digests()[t]);
    const npy_intp shape[] = {static_cast<npy_intp>(asked.size()),
                              static_cast<npy_intp>(asked.width())};
    nb::object rows = new_array(2, shape);
    std::copy_n(asked.values(), asked.size() * asked.width(), data_of(rows));
    return nb::make_tuple(digests, rows);
}

void restore_asked(AskedRows& asked, std::vector<std::uint64_t> digests, const Matrix& rows,
                   std::uint32_t methods) {
    require(digests.size() == rows.shape(0), "one row per digest is needed");
    require(rows.shape(0) <= asked.most(rows.shape(1)), "more rows than are kept");
    require(first_unusable(rows.data(), rows.size()) == rows.size(),
            "rows must be finite and below 2**500 in magnitude");
    asked.restore(std::move(digests), {rows.data(), rows.data() + rows.size()}, rows.shape(1),
                  methods);
}

void bind_asked(nb::module_& m) {
    m.def("digest_of_row", [](nb::handle x) { return digest_of_row(x.ptr()); }, "x"_a.none());
    m.def("plain_row", [](nb::handle x) { return plain_row(x.ptr()); }, "x"_a.none());
    nb::class_<AskedRows>(m, "AskedRows")
        .def(nb::init<std::size_t>(), "limit"_a)
        .def("__len__", &AskedRows::size)
        .def("rows", &asked_rows)
        .def("clear", &AskedRows::clear)
        .def("restore", &restore_asked, "digests"_a, "rows"_a.noconvert(), "methods"_a)
        .def_prop_ro("limit", &AskedRows::limit)
        .def_prop_ro("methods", &AskedRows::methods);
}

void bind_lock(nb::module_& m) {
    nb::class_<Lock>(m, "Lock")
        .def(nb::init<>())
        .def("__enter__",
             [](nb::handle_t<Lock> self) {
                 nb::cast<Lock&>(self).acquire();
                 return nb::borrow(self);
             })
        .def(
            "__exit__",
            [](Lock& lock, nb::handle, nb::handle, nb::handle) {
                if (!lock.release())
                    throw std::runtime_error("a lock is released by who does not hold it");
            },
            "type"_a.none(), "value"_a.none(), "traceback"_a.none());
}

}  // namespace

void bind_rows(nb::module_& m) {
    bind_lock(m);
    bind_asked(m);
    nb::class_<NamedRows>(m, "NamedRows")
        .def(nb::init<nb::object, nb::object, nb::dict, nb::object, double, std::size_t>(),
             "engine"_a.none(), "coder"_a, "names"_a, "lock"_a, "discount"_a, "most_names"_a)
        .def(
            "predict_number",
            [](NamedRows& rows, nb::handle x) { return rows.predict_number(x.ptr()); },
            "x"_a.none())
        .def(
            "step_number",
            [](NamedRows& rows, nb::handle x, nb::handle y) {
                return rows.step_number(x.ptr(), y.ptr());
            },
            "x"_a.none(), "y"_a.none())
        .def("predict_outputs", &NamedRows::predict_outputs, "x"_a.none())
        .def("predict_class", &NamedRows::predict_class, "x"_a.none(), "margin"_a, "met"_a)
        .def("learn_number", &NamedRows::learn_number, "x"_a.none(), "y"_a, "watch"_a.none(),
             "intervals"_a.none())
        .def("learn_class", &NamedRows::learn_class, "x"_a.none(), "label"_a, "margin"_a,
             "watch"_a.none(), "calibration"_a.none())
        .def("step", &NamedRows::step, "x"_a.none(), "targets"_a)
        .def(
            "code", [](NamedRows& rows, nb::handle x) { return rows.code(x, true); }, "x"_a.none())
        .def(
            "code_to_predict", [](NamedRows& rows, nb::handle x) { return rows.code(x, false); },
            "x"_a.none())
        .def("last_row", &NamedRows::last_row)
        .def("ask", &NamedRows::ask, "x"_a.none(), "asked"_a, "method"_a)
        .def("learns", &NamedRows::learns, "x"_a.none(), "asked"_a)
        .def("rollback", &NamedRows::rollback)
        .def("use", &NamedRows::use, "engine"_a.none())
        .def("set_lags", &NamedRows::set_lags, "values"_a.none())
        .def("learn_function",
             [](nb::handle_t<NamedRows> self) { return bound(learn_one_method, self); })
        .def("predict_function",
             [](nb::handle_t<NamedRows> self) { return bound(predict_one_method, self); })
        .def_prop_ro("shared_names", &NamedRows::shares_names)
        .def_prop_ro("lags", &NamedRows::lags)
        .def_ro("engine", &NamedRows::engine_object)
        .def_ro("coder", &NamedRows::coder_object)
        .def_ro("names", &NamedRows::names)
        .def_ro("lock", &NamedRows::lock_object)
        .def_ro("discount", &NamedRows::discount)
        .def_ro("most_names", &NamedRows::most_names);
}

}  // namespace dfop
